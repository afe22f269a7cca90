use super::*;

#[test]
fn every_known_protocol_has_a_valid_template_and_is_found_by_its_name() {
    for protocol in known() {
        assert!(PromptTemplate::parse(protocol.template_text()).is_ok());
        assert_eq!(
            find(protocol.name()).map(Protocol::name),
            Some(protocol.name())
        );
    }
    assert!(find("unheard-of").is_none());
}
