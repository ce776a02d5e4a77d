use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// Whether an address belongs to the open internet.
///
/// Does not hold for loopback, private, shared (carrier), link-local (so also the metadata services of clouds), documentation,
/// benchmark, multicast and reserved ranges, nor for IPv6 forms that carry such an IPv4 address.
///
/// Source: the IANA special-purpose address registries for IPv4 and IPv6.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Whether a URL names this machine itself.
pub fn is_loopback_host(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => {
            address.is_loopback() || address.to_ipv4_mapped().is_some_and(|address| address.is_loopback())
        }
        Some(Host::Domain(name)) => is_local_name(name),
        None => false,
    }
}

/// Names that always mean this machine, whatever a resolver says (RFC 6761, section 6.3).
pub(super) fn is_local_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name == "localhost" || name.ends_with(".localhost")
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (18..20).contains(&b)))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    if let Some(inner) = embedded_v4(segments) {
        return is_public_v4(inner);
    }
    // Only 2000::/3 is handed out; inside it are the ranges for protocols, documentation and segment routing.
    segments[0] & 0xe000 == 0x2000
        && !(segments[0] == 0x2001 && segments[1] < 0x200)
        && !(segments[0] == 0x2001 && segments[1] == 0xdb8)
        && !(segments[0] == 0x3fff && segments[1] < 0x1000)
}

/// The IPv4 address that a translated or tunnelled IPv6 address leads to.
fn embedded_v4(segments: [u16; 8]) -> Option<Ipv4Addr> {
    let join = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match segments {
        [0, 0, 0, 0, 0, 0xffff, high, low] => Some(join(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(join(high, low)),
        [0x2002, high, low, ..] => Some(join(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_open_internet_are_public() {
        let public =
            ["1.1.1.1", "100.63.0.1", "172.32.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"];
        let refused = [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.0.9",
            "169.254.169.254",
            "172.16.0.1",
            "192.0.0.8",
            "192.168.1.1",
            "198.18.0.1",
            "203.0.113.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::a00:1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "ff02::1",
        ];
        let judged = |texts: &[&'static str], wanted: bool| -> Vec<&'static str> {
            texts.iter().copied().filter(|text| is_public(text.parse().unwrap()) != wanted).collect()
        };
        assert_eq!((judged(&public, true), judged(&refused, false)), (vec![], vec![]));
    }
}
