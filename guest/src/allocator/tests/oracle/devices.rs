//! Whether a request may have a device: spec section 9.4, KEP 4815 and KEP 5055.

use super::*;

impl<'a> Oracle<'a> {
    pub(super) fn is_selectable(
        &mut self,
        asked: Asked,
        slot: usize,
        index: usize,
        classes: bool,
    ) -> Result<bool, String> {
        let c = asked.0;
        let cluster = self.cluster;
        let (slice, device) = (&cluster.slices[slot], &cluster.slices[slot].devices[index]);
        if !device.usable {
            return Ok(false);
        }
        let key = (asked, self.id(slot, index));
        if let Some(&known) = self.known.get(&key) {
            return Ok(known);
        }
        let exact = self.request(asked);
        let class = cluster.find_class(&exact.device_class_name)?;
        let of_class = class
            .selectors
            .iter()
            .enumerate()
            .filter(|_| classes)
            .map(|(i, selector)| (true, i, selector));
        let own = exact
            .selectors
            .iter()
            .enumerate()
            .map(|(i, selector)| (false, i, selector));
        let mut answer = true;
        for (is_class, i, selector) in of_class.chain(own) {
            let claim = &cluster.claims[c].meta;
            let owner = if is_class {
                format!("class {}", class.name)
            } else {
                format!("claim {}/{}", claim.namespace, claim.name)
            };
            let text = selector
                .cel
                .as_deref()
                .expect("selectors of random clusters have text");
            self.log.push((text.to_string(), slot as u32, index as u32));
            match evaluate(text, &slice.driver, device) {
                Ok(true) => {}
                Ok(false) => {
                    answer = false;
                    break;
                }
                Err(SelectorError::Compile(error)) => {
                    return Err(format!(
                        "{owner}: selector #{i}: CEL compile error: {error}"
                    ));
                }
                Err(SelectorError::Runtime(error)) => {
                    return Err(format!(
                        "{owner}: selector #{i}: CEL runtime error: {error}"
                    ));
                }
            }
        }
        // After the selectors: KEP 4815.
        answer &= slice.reach != Reach::PerDevice || is_for(device, &cluster.node)?;
        self.known.insert(key, answer);
        Ok(answer)
    }

    pub(super) fn is_free(&self, asked: Asked, slot: usize, index: usize) -> bool {
        let c = asked.0;
        let id = self.id(slot, index);
        let is_admin = |pick: &Pick| {
            self.request((pick.claim, pick.request, pick.alternative))
                .admin_access
        };
        let same = |pick: &&Pick| self.id(pick.slot, pick.index) == id;
        let later_rules = self.profile.admin_access_excludes_own_devices();
        if self.request(asked).admin_access {
            return !later_rules || !self.picks.iter().filter(same).any(|pick| pick.claim == c);
        }
        let holds = |admin: bool| !(admin && self.profile.admin_access_in_results());
        let held = self
            .cluster
            .held
            .iter()
            .flat_map(|allocation| &allocation.results)
            .any(|result| holds(result.admin_access) && id_of(result) == id);
        !held
            && !self
                .picks
                .iter()
                .filter(same)
                .any(|pick| later_rules || !is_admin(pick))
    }

    /// Whether there is enough for the device, beside those that are held and picked.
    pub(super) fn has_counters(&self, slot: usize, index: usize) -> bool {
        let (slice, device) = (self.slice(slot), self.device(slot, index));
        if consumed(device).is_empty() {
            return true;
        }
        let held: BTreeSet<Id> = self
            .cluster
            .held
            .iter()
            .flat_map(|allocation| &allocation.results)
            .filter(|result| !result.admin_access)
            .filter(|result| (&result.driver, &result.pool) == (&slice.driver, &slice.pool))
            .map(id_of)
            .collect();
        let mut left: BTreeMap<(&str, &str), i128> = BTreeMap::new();
        let mut seen = 0;
        let of_pool = || self.slices_of(&slice.driver, &slice.pool, slice.generation);
        for set in of_pool().flat_map(|slice| &slice.counters) {
            for (name, amount) in &set.counters {
                left.insert((&set.name, name), *amount);
            }
        }
        let mut take = |device: &'a Device| {
            for set in consumed(device) {
                for (name, amount) in &set.counters {
                    *left.get_mut(&(&*set.name, &**name)).expect("a valid pool") -= amount;
                }
            }
        };
        for other in of_pool().flat_map(|slice| &slice.devices) {
            let id = (
                slice.driver.to_string(),
                slice.pool.to_string(),
                other.name.to_string(),
            );
            if held.contains(&id) {
                seen += 1;
                take(other);
            }
        }
        for pick in &self.picks {
            let other = self.slice(pick.slot);
            if (&other.driver, &other.pool) == (&slice.driver, &slice.pool) {
                take(&self.cluster.slices[pick.slot].devices[pick.index]);
            }
        }
        take(&self.cluster.slices[slot].devices[index]);
        // A device that is held and gone took nobody knows what.
        seen == held.len() && left.values().all(|left| *left >= 0)
    }

    pub(super) fn is_tolerated(&self, (c, r, a): Asked, slot: usize, index: usize) -> bool {
        let (slice, device) = (self.slice(slot), self.device(slot, index));
        let rules = self.cluster.rules.iter().filter(|rule| {
            rule.selector.as_ref().is_some_and(|selector| {
                let fits = |wanted: &Option<String>, name: &str| {
                    wanted.is_none() || wanted.as_deref() == Some(name)
                };
                fits(&selector.driver, &slice.driver)
                    && fits(&selector.pool, &slice.pool)
                    && fits(&selector.device, &device.name)
            })
        });
        let own = device.extra.iter().flat_map(|extra| &extra.taints);
        let tolerations = &self.request((c, r, a)).tolerations;
        own.chain(rules.map(|rule| &rule.taint)).all(|taint| {
            let tolerated = |toleration: &DeviceToleration| {
                (toleration.key.is_empty() || *toleration.key == *taint.key)
                    && (toleration.effect.is_empty() || toleration.effect == taint.effect.name())
                    && (toleration.operator == "Exists" || *toleration.value == *taint.value)
            };
            taint.effect == TaintEffect::None || tolerations.iter().any(tolerated)
        })
    }

    pub(super) fn satisfies_constraints(&self, asked: Asked, slot: usize, index: usize) -> bool {
        let (c, r, a) = asked;
        self.cluster.claims[c].constraints.iter().all(|constraint| {
            let covers = |request: usize, alternative: usize| {
                let parent = &self.cluster.claims[c].requests[request].name;
                let full = self.names(c, request, alternative).1;
                constraint.requests.is_empty()
                    || constraint.requests.contains(parent)
                    || constraint.requests.contains(&full)
            };
            if !covers(r, a) {
                return true;
            }
            let Some(value) = self.value(constraint, slot, index) else {
                return false;
            };
            let covered = self
                .picks
                .iter()
                .filter(|pick| pick.claim == c && covers(pick.request, pick.alternative));
            let others: Vec<Vec<&Attribute>> = covered
                .map(|pick| values(self.value(constraint, pick.slot, pick.index)))
                .collect();
            let mine = values(Some(value));
            if others.is_empty() {
                return constraint.distinct_attribute.is_none() || !mine.is_empty();
            }
            if constraint.distinct_attribute.is_some() {
                let in_none = |value| !others.iter().any(|values| values.contains(value));
                return !mine.is_empty() && mine.iter().all(in_none);
            }
            let in_all = |value| others.iter().all(|values| values.contains(value));
            mine.iter().any(in_all)
        })
    }

    fn value(
        &self,
        constraint: &DeviceConstraint,
        slot: usize,
        index: usize,
    ) -> Option<&Attribute> {
        let named = constraint.match_attribute.as_ref();
        let name = named.or(constraint.distinct_attribute.as_ref())?;
        let find = |name: &str| {
            let mut attributes = self.device(slot, index).attributes.iter();
            attributes
                .find(|(given, _)| **given == *name)
                .map(|(_, value)| value)
        };
        find(name.as_str()).or_else(|| {
            let (domain, id) = name.split_once('/')?;
            if domain == &*self.slice(slot).driver {
                find(id)
            } else {
                None
            }
        })
    }
}

fn id_of(result: &DeviceResult) -> Id {
    (
        result.driver.to_string(),
        result.pool.to_string(),
        result.device.to_string(),
    )
}

/// A single value as a list of one.
fn values(attribute: Option<&Attribute>) -> Vec<&Attribute> {
    match attribute {
        None | Some(Attribute::Unknown) => Vec::new(),
        Some(Attribute::List(values)) => values.iter().collect(),
        Some(single) => vec![single],
    }
}
