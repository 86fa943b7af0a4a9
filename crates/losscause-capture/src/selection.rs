//! Which flows are of interest.

use std::net::IpAddr;

use crate::packet::Endpoint;

/// Flows by their ends. Of each kind that is given, one end has to have one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Texts that an end contains, as in `10.0.0.1:443`.
    pub texts: Vec<String>,
    /// Addresses.
    pub hosts: Vec<IpAddr>,
    /// TCP or UDP ports.
    pub ports: Vec<u16>,
}

impl Selection {
    /// Whether every flow is of interest.
    pub fn is_all(&self) -> bool {
        self.texts.is_empty() && self.hosts.is_empty() && self.ports.is_empty()
    }

    /// Whether a flow between these ends is of interest.
    pub(crate) fn has(&self, ends: [&str; 2]) -> bool {
        let addresses = || ends.iter().filter_map(|end| end.parse::<Endpoint>().ok());
        let by_text =
            self.texts.iter().any(|text| ends.iter().any(|end| end.contains(text.as_str())));
        let by_host = addresses().any(|end| self.hosts.contains(&end.ip()));
        let by_port = addresses().any(|end| self.ports.contains(&end.port));
        (by_text || self.texts.is_empty())
            && (by_host || self.hosts.is_empty())
            && (by_port || self.ports.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_end_has_to_have_one_of_each_kind_that_is_given() {
        let of = |texts: &[&str], hosts: &[&str], ports: &[u16]| Selection {
            texts: texts.iter().map(|&text| text.to_owned()).collect(),
            hosts: hosts.iter().map(|host| host.parse().unwrap()).collect(),
            ports: ports.to_vec(),
        };
        let ends = ["10.0.0.1:1000", "[2001:db8::1]:443"];
        for has in [
            of(&[], &[], &[]),
            of(&["no", "db8"], &[], &[443]),
            of(&[], &["10.0.0.1", "10.0.0.9"], &[1000]),
        ] {
            assert!(has.has(ends), "{has:?}");
        }
        for has_not in [of(&["no"], &[], &[443]), of(&[], &["10.0.0.2"], &[]), of(&[], &[], &[44])]
        {
            assert!(!has_not.has(ends), "{has_not:?}");
        }
        assert!(of(&[], &[], &[]).is_all() && !of(&[], &[], &[1]).is_all());
    }
}
