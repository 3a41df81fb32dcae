//! The answers of `openssl speed -mr`, which are lines with fields between colons.

/// Returns the bytes a second of the only result: a line `+F:<number>:<name>:<bytes a second>`, whose last field
/// has a fraction. Returns `None` if there is no result, several, or one for several lengths.
pub fn bytes_per_second(output: &str) -> Option<u64> {
    let mut results = output.lines().filter_map(|line| line.strip_prefix("+F:"));
    let (Some(fields), None) = (results.next(), results.next()) else { return None };
    let mut fields = fields.split(':').skip(2);
    let (Some(rate), None) = (fields.next(), fields.next()) else { return None };
    let (whole, fraction) = rate.trim().split_once('.')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(fraction) || !is_number(whole) {
        return None;
    }
    whole.parse().ok().filter(|rate| *rate > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_one_line_with_one_rate() {
        let one = "+H:65536\n+F:21:AES-256-CTR:123456789.12\n";
        assert_eq!(bytes_per_second(one), Some(123_456_789));
        for wrong in [
            "",
            "+H:65536\n",
            "+F:21:AES-256-CTR:0.00\n",
            "+F:21:AES-256-CTR:-1.00\n",
            "+F:21:AES-256-CTR:inf\n",
            "+F:21:AES-256-CTR:1.00:2.00\n",
            "+F:21:a:1.00\n+F:22:b:1.00\n",
            "+F:21:a:99999999999999999999999.00\n",
        ] {
            assert_eq!(bytes_per_second(wrong), None, "{wrong}");
        }
    }
}
