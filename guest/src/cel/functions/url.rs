//! The URL library: Go's net/url for absolute URLs and absolute paths.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;
use std::sync::Arc;

use super::{Function, no_overload};
use crate::cel::eval::Run;
use crate::cel::value::{Fail, Key, Map, Outcome, Value};

pub(super) const TABLE: &[(&str, Function)] = &[
    ("url", |run, args| match args {
        [Value::String(text)] => {
            run.budget.memory(text.len() * 4)?;
            match Url::parse(text) {
                Ok(url) => Ok(Value::Url(Arc::new(url))),
                Err(error) => Err(Fail::new(format!(
                    "URL parse error during conversion from string: {error}"
                ))),
            }
        }
        _ => no_overload(),
    }),
    ("isURL", |run, args| match args {
        [Value::String(text)] => {
            run.budget.memory(text.len() * 4)?;
            Ok(Value::Bool(Url::parse_request(text).is_ok()))
        }
        _ => no_overload(),
    }),
    ("getScheme", |run, args| {
        part(run, args, |u| u.scheme.clone())
    }),
    ("getHost", |run, args| part(run, args, |u| u.host.clone())),
    ("getHostname", |run, args| {
        part(run, args, |u| u.hostname().to_string())
    }),
    ("getPort", |run, args| {
        part(run, args, |u| u.port().to_string())
    }),
    ("getEscapedPath", |run, args| {
        part(run, args, |u| u.path.clone())
    }),
    ("getQuery", query),
];

fn part(run: &mut Run<'_>, args: &[Value], get: fn(&Url) -> String) -> Outcome {
    match args {
        [Value::Url(url)] => super::new_string(run, &get(url)),
        _ => no_overload(),
    }
}

/// A parsed URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Url {
    scheme: String,
    user: Option<String>,
    host: String,
    /// As escaped.
    path: String,
    query: String,
    fragment: String,
}

impl Url {
    /// Go's ParseRequestURI followed by Parse.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        Self::parse_request(text)?;
        Self::parse_as(text, false)
    }

    /// Go's ParseRequestURI: it knows no fragment, and no authority without a scheme.
    pub(crate) fn parse_request(text: &str) -> Result<Self, String> {
        Self::parse_as(text, true)
    }

    fn parse_as(text: &str, request: bool) -> Result<Self, String> {
        let error = |why: &str| Err(format!("parse {text:?}: {why}"));
        if text.is_empty() {
            return error("empty url");
        }
        if text.bytes().any(|b| b < 0x20 || b == 0x7f) {
            return error("net/url: invalid control character in URL");
        }
        let mut url = Url::default();
        let (before, fragment) = match text.split_once('#') {
            Some(parts) if !request => parts,
            _ => (text, ""),
        };
        if before == "*" {
            url.path = before.to_string();
            return Ok(url);
        }
        let (scheme, rest) = match split_scheme(before) {
            Ok(parts) => parts,
            Err(why) => return error(why),
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        (url.scheme, url.query, url.fragment) = (scheme, query.to_string(), fragment.to_string());
        if let Some(bad) = bad_escape(fragment) {
            return error(&format!("invalid URL escape {bad:?}"));
        }
        if !rest.starts_with('/') {
            // With a scheme it is opaque, as in mailto:x.
            return match url.scheme.is_empty() {
                true => error("invalid URI for request"),
                false => Ok(url),
            };
        }
        let has_authority = !url.scheme.is_empty() || (!request && !rest.starts_with("///"));
        let (authority, path) = match rest.strip_prefix("//") {
            Some(after) if has_authority => after.split_at(after.find('/').unwrap_or(after.len())),
            _ => ("", rest),
        };
        if let Err(why) = url.set_authority(authority) {
            return error(&why);
        }
        if let Some(bad) = bad_escape(path) {
            return error(&format!("invalid URL escape {bad:?}"));
        }
        url.path = escape_path(path);
        Ok(url)
    }

    fn set_authority(&mut self, authority: &str) -> Result<(), String> {
        let host = match authority.rsplit_once('@') {
            Some((user, host)) => {
                if !user.bytes().all(is_user_byte) {
                    return Err("net/url: invalid userinfo".to_string());
                }
                self.user = Some(user.to_string());
                host
            }
            None => authority,
        };
        self.host = parse_host(host)?;
        Ok(())
    }

    /// The host without port and brackets.
    fn hostname(&self) -> &str {
        let name = self
            .host
            .strip_suffix(self.port())
            .and_then(|h| h.strip_suffix(':'))
            .unwrap_or(&self.host);
        let name = if self.port().is_empty() {
            self.host.strip_suffix(':').unwrap_or(&self.host)
        } else {
            name
        };
        name.strip_prefix('[')
            .and_then(|n| n.strip_suffix(']'))
            .unwrap_or(name)
    }

    fn port(&self) -> &str {
        match self.host.rsplit_once(':') {
            Some((name, port))
                if port.bytes().all(|b| b.is_ascii_digit())
                    && (!name.contains(':') || name.ends_with(']')) =>
            {
                port
            }
            _ => "",
        }
    }
}

fn split_scheme(text: &str) -> Result<(String, &str), &'static str> {
    for (i, c) in text.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if i > 0 => {}
            ':' if i == 0 => return Err("missing protocol scheme"),
            ':' => return Ok((text[..i].to_ascii_lowercase(), &text[i + 1..])),
            _ => break,
        }
    }
    Ok((String::new(), text))
}

fn is_user_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&b)
}

fn parse_host(host: &str) -> Result<String, String> {
    if let Some(inner) = host.strip_prefix('[') {
        let Some((address, port)) = inner.rsplit_once(']') else {
            return Err("missing ']' in host".to_string());
        };
        if !is_port(port) {
            return Err(format!("invalid port {port:?} after host"));
        }
        let plain = address
            .split_once('%')
            .map_or(address, |(address, _)| address);
        if plain.parse::<Ipv6Addr>().is_err() && plain.bytes().any(|b| !is_host_byte(b)) {
            return Err("invalid host".to_string());
        }
        return Ok(host.replace("%25", "%"));
    }
    if let Some(colon) = host.rfind(':')
        && !is_port(&host[colon..])
    {
        return Err(format!("invalid port {:?} after host", &host[colon..]));
    }
    if let Some(bad) = bad_escape(host) {
        return Err(format!("invalid URL escape {bad:?}"));
    }
    match host
        .chars()
        .find(|c| c.is_ascii() && !is_host_byte(*c as u8))
    {
        Some(c) => Err(format!(
            "invalid character {:?} in host name",
            c.to_string()
        )),
        None => unescape(host).ok_or_else(|| "invalid host".to_string()),
    }
}

fn is_port(text: &str) -> bool {
    text.is_empty()
        || text
            .strip_prefix(':')
            .is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()))
}

fn is_host_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"%".contains(&b)
}

/// The first percent sign without two hexadecimal digits, with what follows.
fn bad_escape(text: &str) -> Option<&str> {
    text.match_indices('%').find_map(|(i, _)| {
        let digits = text.as_bytes().get(i + 1..i + 3);
        let good = digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        if good {
            None
        } else {
            text.get(i..(i + 3).min(text.len())).or(Some("%"))
        }
    })
}

fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(b) = rest.next() {
        if b == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            bytes.push((high * 16 + low) as u8);
        } else {
            bytes.push(b);
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Escapes what must not stay as it is in a path; what is escaped already is kept.
fn escape_path(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for b in path.bytes() {
        if b.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:@/[]%".contains(&b) {
            escaped.push(char::from(b));
        } else {
            escaped.push_str(&format!("%{b:02X}"));
        }
    }
    escaped
}

fn query(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    let [Value::Url(url)] = args else {
        return no_overload();
    };
    run.budget.memory(url.query.len() * 8)?;
    let mut values: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for pair in url.query.split('&') {
        if pair.is_empty() || pair.contains(';') {
            continue;
        }
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let decode = |text: &str| unescape(&text.replace('+', " "));
        if let (Some(name), Some(value)) = (decode(name), decode(value)) {
            values.entry(name).or_default().push(Value::string(value));
        }
    }
    let map: Map = values
        .into_iter()
        .map(|(name, list)| (Key::String(Arc::from(name)), Value::list(list)))
        .collect();
    Ok(Value::Map(Arc::new(map)))
}
