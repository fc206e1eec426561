//! The ip and cidr libraries.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Function, no_overload};
use crate::cel::value::{Fail, Outcome, Value};

pub(super) const TABLE: &[(&str, Function)] = &[
    ("ip", |_, args| match args {
        [Value::String(text)] => parse_ip(text).map(Value::Ip).map_err(Fail::new),
        [Value::Cidr(cidr)] => Ok(Value::Ip(cidr.address)),
        _ => no_overload(),
    }),
    ("isIP", |_, args| match args {
        [Value::String(text)] => Ok(Value::Bool(parse_ip(text).is_ok())),
        _ => no_overload(),
    }),
    ("ip.isCanonical", |_, args| match args {
        [Value::String(text)] => parse_ip(text)
            .map(|ip| Value::Bool(ip.to_string() == **text))
            .map_err(Fail::new),
        _ => no_overload(),
    }),
    ("family", |_, args| match args {
        [Value::Ip(ip)] => Ok(Value::Int(if ip.is_ipv4() { 4 } else { 6 })),
        _ => no_overload(),
    }),
    ("isUnspecified", |_, args| {
        test(args, |ip| ip.is_unspecified())
    }),
    ("isLoopback", |_, args| test(args, |ip| ip.is_loopback())),
    ("isLinkLocalMulticast", |_, args| {
        test(args, is_link_local_multicast)
    }),
    ("isLinkLocalUnicast", |_, args| {
        test(args, is_link_local_unicast)
    }),
    ("isGlobalUnicast", |_, args| test(args, is_global_unicast)),
    ("cidr", |_, args| match args {
        [Value::String(text)] => Cidr::parse(text).map(Value::Cidr).map_err(Fail::new),
        _ => no_overload(),
    }),
    ("isCIDR", |_, args| match args {
        [Value::String(text)] => Ok(Value::Bool(Cidr::parse(text).is_ok())),
        _ => no_overload(),
    }),
    ("containsIP", |_, args| match args {
        [Value::Cidr(cidr), Value::Ip(ip)] => Ok(Value::Bool(cidr.contains(*ip))),
        [Value::Cidr(cidr), Value::String(text)] => parse_ip(text)
            .map(|ip| Value::Bool(cidr.contains(ip)))
            .map_err(Fail::new),
        _ => no_overload(),
    }),
    ("containsCIDR", |_, args| match args {
        [Value::Cidr(cidr), Value::Cidr(other)] => Ok(Value::Bool(cidr.contains_all_of(other))),
        [Value::Cidr(cidr), Value::String(text)] => Cidr::parse(text)
            .map(|other| Value::Bool(cidr.contains_all_of(&other)))
            .map_err(Fail::new),
        _ => no_overload(),
    }),
    ("prefixLength", |_, args| match args {
        [Value::Cidr(cidr)] => Ok(Value::Int(i64::from(cidr.prefix))),
        _ => no_overload(),
    }),
    ("masked", |_, args| match args {
        [Value::Cidr(cidr)] => Ok(Value::Cidr(cidr.masked())),
        _ => no_overload(),
    }),
];

fn test(args: &[Value], holds: fn(IpAddr) -> bool) -> Outcome {
    match args {
        [Value::Ip(ip)] => Ok(Value::Bool(holds(*ip))),
        _ => no_overload(),
    }
}

/// Strict: no zone, no leading zeros, no IPv4 address in IPv6 form.
fn parse_ip(text: &str) -> Result<IpAddr, String> {
    let address: IpAddr = text
        .parse()
        .map_err(|_| format!("IP Address {text:?} parse error during conversion from string"))?;
    match address {
        IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() => {
            Err(format!("IPv4-mapped IPv6 address {text:?} is not allowed"))
        }
        address => Ok(address),
    }
}

fn is_link_local_multicast(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => v4.octets()[..3] == [224, 0, 0],
        IpAddr::V6(v6) => v6.segments()[0] & 0xff0f == 0xff02,
    }
}

fn is_link_local_unicast(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.segments()[0] & 0xffc0 == 0xfe80,
    }
}

fn is_global_unicast(ip: IpAddr) -> bool {
    let broadcast = ip == IpAddr::V4(Ipv4Addr::BROADCAST);
    !broadcast
        && !ip.is_unspecified()
        && !ip.is_loopback()
        && !ip.is_multicast()
        && !is_link_local_unicast(ip)
}

/// An address and the length of its network prefix; the address may have bits after the prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cidr {
    address: IpAddr,
    prefix: u8,
}

impl Cidr {
    fn parse(text: &str) -> Result<Self, String> {
        let error =
            || format!("network address parse error during conversion from string: {text:?}");
        let (address, prefix) = text.split_once('/').ok_or_else(error)?;
        let plain = !prefix.is_empty()
            && prefix.bytes().all(|b| b.is_ascii_digit())
            && (prefix.len() == 1 || !prefix.starts_with('0'));
        let prefix: u8 = if plain {
            prefix.parse().map_err(|_| error())?
        } else {
            return Err(error());
        };
        let address = parse_ip(address)?;
        if prefix > if address.is_ipv4() { 32 } else { 128 } {
            return Err(error());
        }
        Ok(Self { address, prefix })
    }

    pub(crate) fn prefix_length(&self) -> u8 {
        self.prefix
    }

    fn masked(&self) -> Self {
        let address = match self.address {
            IpAddr::V4(v4) => {
                let mask = u32::MAX
                    .checked_shl(32 - u32::from(self.prefix))
                    .unwrap_or(0);
                IpAddr::V4(Ipv4Addr::from(u32::from(v4) & mask))
            }
            IpAddr::V6(v6) => {
                let mask = u128::MAX
                    .checked_shl(128 - u32::from(self.prefix))
                    .unwrap_or(0);
                IpAddr::V6(Ipv6Addr::from(u128::from(v6) & mask))
            }
        };
        Self {
            address,
            prefix: self.prefix,
        }
    }

    fn contains(&self, ip: IpAddr) -> bool {
        ip.is_ipv4() == self.address.is_ipv4()
            && Self {
                address: ip,
                prefix: self.prefix,
            }
            .masked()
            .address
                == self.masked().address
    }

    /// As upstream: the other's address as it is written, not masked, must be the start of this network.
    fn contains_all_of(&self, other: &Cidr) -> bool {
        self.masked().address == other.address && self.prefix <= other.prefix
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}
