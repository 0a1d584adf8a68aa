use super::*;

fn finding(code: Code, file: &str, line: u32) -> Finding {
    Finding::new(code, "a.b", "broken")
        .in_file(&SourceName::new(file))
        .at(Position { line, column: 1 })
}

#[test]
fn shows_code_place_path_value_and_help() {
    let finding = Finding::new(
        Code::Oc4010,
        "a.kustomizations[1].path",
        "path must start with \"/\"",
    )
    .in_file(&SourceName::new("config.yaml"))
    .at(Position {
        line: 84,
        column: 17,
    })
    .got("\"infrastructure/qa\"")
    .help("use an absolute path");
    assert_eq!(
        finding.to_text(),
        "error[OC4010]: path must start with \"/\"\n  --> config.yaml:84:17\n   at a.kustomizations[1].path\n  \
         got: \"infrastructure/qa\"\n  help: use an absolute path"
    );
}

#[test]
fn leaves_out_what_is_not_known() {
    let mut finding = Finding::new(Code::Oc1002, "", "no cluster is active");
    finding.help = None;
    assert_eq!(finding.to_text(), "error[OC1002]: no cluster is active");
}

#[test]
fn sorts_by_file_line_and_code() {
    let mut findings = vec![
        finding(Code::Oc3111, "b.yaml", 1),
        finding(Code::Oc3111, "a.yaml", 9),
        finding(Code::Oc3113, "a.yaml", 2),
        finding(Code::Oc3112, "a.yaml", 2),
    ];
    sort(&mut findings);
    let order: Vec<_> = findings.iter().map(|finding| finding.code).collect();
    assert_eq!(
        order,
        [Code::Oc3112, Code::Oc3113, Code::Oc3111, Code::Oc3111]
    );
}

#[test]
fn separates_errors_from_warnings_in_json() {
    let findings = [
        finding(Code::Oc3114, "a.yaml", 1),
        finding(Code::Oc3111, "a.yaml", 3),
        finding(Code::Oc7020, "a.yaml", 2),
    ];
    let report = to_json(&findings);
    assert_eq!(report["ok"], false);
    assert_eq!(report["summary"], json!({"errors": 1, "warnings": 2}));
    assert_eq!(
        report["errors"][0],
        json!({
            "code": "OC3111", "severity": "error", "category": "services", "path": "a.b", "file": "a.yaml",
            "line": 3, "column": 1, "message": "broken", "help": Code::Oc3111.remedy(),
        })
    );
    assert_eq!(report["warnings"][0]["code"], "OC3114");
    assert_eq!(report["warnings"][1]["severity"], "info");
}

#[test]
fn codes_are_unique_ordered_and_explained() {
    let numbers: Vec<_> = Code::ALL.iter().map(|code| code.number()).collect();
    assert!(numbers.is_sorted_by(|left, right| left < right));
    for code in Code::ALL {
        assert_eq!(code.to_string(), format!("OC{}", code.number()));
        assert_eq!(Code::from_number(code.number()), Some(*code));
        for text in [code.title(), code.remedy()] {
            assert!(!text.is_empty() && !text.ends_with('.'), "{code}: {text}");
        }
    }
}
