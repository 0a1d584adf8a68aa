//! Every way to be wrong, with file, line, column, hint and exit code.

use std::fs;

use mainstay_testkit::program::Ended;

use crate::{
    run,
    suite::cli::{directory_with, in_directory, kaoto, run_with},
};

async fn refused(text: &str) -> Ended {
    run_with(text, &["render", "-f", "kaoto.yaml"]).await
}

#[tokio::test]
async fn an_unknown_field_is_named_with_the_one_that_was_meant() {
    let text = "apiVersion: designer.kaoto.io/v1alpha1
kind: Kaoto
metadata:
  name: designer
spec:
  ingres: {}
";
    insta::assert_snapshot!(refused(text).await, @r#"
    exit code: 1
    ----- stdout -----
    ----- stderr -----
    error: kaoto.yaml:6:3: spec: unknown field `ingres`
      |
    6 |   ingres: {}
      |   ^

    hint: did you mean `ingress`?
    "#);
}

#[tokio::test]
async fn a_value_of_the_wrong_type_is_shown() {
    let text = "apiVersion: designer.kaoto.io/v1alpha1
kind: Kaoto
metadata:
  name: designer
spec:
  image: 7
";
    insta::assert_snapshot!(refused(text).await, @r#"
    exit code: 1
    ----- stdout -----
    ----- stderr -----
    error: kaoto.yaml:6:10: spec.image: invalid type: integer `7`, expected a string
      |
    6 |   image: 7
      |          ^
    "#);
}

#[tokio::test]
async fn a_key_that_is_given_twice_is_refused() {
    let text = "apiVersion: designer.kaoto.io/v1alpha1
kind: Kaoto
metadata:
  name: designer
  name: other
";
    insta::assert_snapshot!(refused(text).await, @r#"
    exit code: 1
    ----- stdout -----
    ----- stderr -----
    error: kaoto.yaml:5:3: key `name` is given twice, first in line 4, column 3
      |
    5 |   name: other
      |   ^
    "#);
}

#[tokio::test]
async fn a_tab_is_refused_with_advice() {
    let text = "apiVersion: designer.kaoto.io/v1alpha1
kind: Kaoto
metadata:
\tname: designer
";
    insta::assert_snapshot!(refused(text).await, @r#"
    exit code: 1
    ----- stdout -----
    ----- stderr -----
    error: kaoto.yaml:4:1: a tab is used for indentation
      |
    4 |  name: designer
      | ^

    hint: indent with spaces
    "#);
}

#[tokio::test]
async fn a_text_that_is_no_yaml_is_refused() {
    insta::assert_snapshot!(refused("kind: [Kaoto\nmetadata: {}\n").await, @r#"
    exit code: 1
    ----- stdout -----
    ----- stderr -----
    error: kaoto.yaml:2:9: illegal placement of ':' indicator
      |
    2 | metadata: {}
      |         ^
    "#);
}

#[tokio::test]
async fn the_lines_of_a_secret_are_not_shown() {
    let text = "apiVersion: v1
kind: Secret
metadata:
  name: access
stringData:
  password: hunter2
  password: hunter3
";
    insta::assert_snapshot!(refused(text).await, @r#"
    exit code: 1
    ----- stdout -----
    ----- stderr -----
    error: kaoto.yaml:7:3: key `password` is given twice, first in line 6, column 3
      |
    7 | (not shown, it may hold a secret)
    "#);
}

#[tokio::test]
async fn aliases_cannot_fill_the_memory() {
    let ten_of = |(this, before): (char, char)| {
        let ten = vec![format!("*{before}"); 10].join(", ");
        format!("{this}: &{this} [{ten}]\n")
    };
    let growing: String = ('b'..='i').zip('a'..).map(ten_of).collect();
    let text = format!("a: &a [x, x, x, x, x, x, x, x, x, x]\n{growing}");
    insta::assert_snapshot!(refused(&text).await, @r#"
    exit code: 1
    ----- stdout -----
    ----- stderr -----
    error: kaoto.yaml:6:7: the text has more than 2000000 nodes, aliases expanded
      |
    6 | f: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e, *e]
      |       ^
    "#);
}

#[tokio::test]
async fn a_file_beyond_the_limit_is_refused_without_reading_all_of_it() {
    let text = "#".repeat(32 * 1024 * 1024 + 100);
    insta::assert_snapshot!(refused(&text).await, @r#"
    exit code: 1
    ----- stdout -----
    ----- stderr -----
    error: kaoto.yaml:1:1: the text has 33554433 bytes, the limit is 33554432
    "#);
}

#[tokio::test]
async fn deep_nesting_is_refused() {
    let text = format!("a:\n  {}{}\n", "[".repeat(200), "]".repeat(200));
    let ended = refused(&text).await;
    assert_eq!(ended.code, Some(1));
    let first = ended.stderr.lines().next().unwrap();
    insta::assert_snapshot!(first, @r#"
    error: kaoto.yaml:2:131: the text is nested more than 128 levels deep, aliases expanded
    "#);
}

#[tokio::test]
async fn a_text_is_no_object() {
    insta::assert_snapshot!(refused("just a text\n").await, @r#"
    exit code: 1
    ----- stdout -----
    ----- stderr -----
    error: kaoto.yaml:1:1: this is no Kubernetes object

    hint: apiVersion, kind and metadata.name are needed
    "#);
}

#[tokio::test]
async fn an_object_needs_a_name() {
    insta::assert_snapshot!(refused("---\napiVersion: v1\nkind: ConfigMap\n").await, @r#"
    exit code: 1
    ----- stdout -----
    ----- stderr -----
    error: kaoto.yaml:2:1: this is no Kubernetes object

    hint: apiVersion, kind and metadata.name are needed
    "#);
}

#[tokio::test]
async fn a_kind_that_the_group_does_not_have_is_refused() {
    let text = kaoto("designer", "{}").replace("kind: Kaoto", "kind: Kaotos");
    insta::assert_snapshot!(refused(&text).await, @r#"
    exit code: 1
    ----- stdout -----
    ----- stderr -----
    error: kaoto.yaml:2:7: there is no kind Kaotos in designer.kaoto.io/v1alpha1

    hint: use apiVersion designer.kaoto.io/v1alpha1 and kind Kaoto
    "#);
}

#[tokio::test]
async fn the_same_object_twice_is_refused_with_both_places() {
    let again = kaoto("designer", "{}").replace("spec", "  namespace: default\nspec");
    let text = format!("{}---\n{again}", kaoto("designer", "{}"));
    insta::assert_snapshot!(refused(&text).await, @r#"
    exit code: 1
    ----- stdout -----
    ----- stderr -----
    error: kaoto.yaml:10:9: Kaoto default/designer was declared before at kaoto.yaml:1

    hint: remove one of the two
    "#);
}

#[tokio::test]
async fn a_path_that_could_break_out_of_a_proxy_is_refused() {
    let text = kaoto("designer", "\n  ingress:\n    path: \"/a; return 200\"");
    insta::assert_snapshot!(refused(&text).await, @r#"
    exit code: 1
    ----- stdout -----
    ----- stderr -----
    error: kaoto.yaml:7:11: spec.ingress.path: contains ';', which is not allowed in a path

    hint: use a plain path such as `/designer`; the rest of the expression is added to it
    "#);
}

#[tokio::test]
async fn a_name_that_is_a_path_is_refused() {
    insta::assert_snapshot!(refused(&kaoto("../designer", "{}")).await, @r#"
    exit code: 1
    ----- stdout -----
    ----- stderr -----
    error: kaoto.yaml:4:9: metadata.name: "../designer" is not a valid name

    hint: use lower case letters, digits, `-` and `.`, at most 253 of them
    "#);
}

#[tokio::test]
async fn a_missing_file_is_named() {
    let ended = run(&["render", "-f", "missing.yaml"]).run().await;
    insta::assert_snapshot!(ended, @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: could not read `missing.yaml`

    caused by: No such file or directory (os error 2)
    "#);
}

#[tokio::test]
async fn a_directory_without_manifests_is_named() {
    let directory = directory_with("notes.txt", "nothing");
    let ended = in_directory(&directory, &["render", "-f", "."]).run().await;
    insta::assert_snapshot!(ended, @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: directory `.` holds no .yaml, .yml or .json file
    "#);
}

#[tokio::test]
async fn no_file_leaves_the_output_directory() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ../../outside\n";
    let directory = directory_with("kaoto.yaml", text);
    let arguments = [
        "render",
        "-f",
        "kaoto.yaml",
        "-o",
        "dir",
        "--output-dir",
        "a/b",
    ];
    let ended = in_directory(&directory, &arguments).run().await;
    insta::assert_snapshot!(ended, @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: refusing to write `configmap-../../outside.yaml`: it would leave the output directory
    "#);
    assert!(!directory.path().join("outside.yaml").exists());
    assert!(!directory.path().join("a").exists(), "nothing was written");
}

#[tokio::test]
async fn a_place_that_cannot_be_written_is_named() {
    let directory = directory_with("kaoto.yaml", &kaoto("designer", "{}"));
    // A file where a directory is needed stops everybody, also those whom permissions do not stop.
    fs::write(directory.path().join("taken"), "").unwrap();
    let arguments = [
        "render",
        "-f",
        "kaoto.yaml",
        "-o",
        "dir",
        "--output-dir",
        "taken",
    ];
    insta::assert_snapshot!(in_directory(&directory, &arguments).run().await, @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: could not write `taken/default/service-designer.yaml`

    caused by: Not a directory (os error 20)
    "#);
}

#[tokio::test]
async fn wrong_usage_is_explained() {
    insta::assert_snapshot!(run(&["render", "-f", "a", "-o", "xml"]).run().await, @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: invalid value 'xml' for '--output <OUTPUT>'
      [possible values: yaml, json, name, dir]

      tip: a similar value exists: 'yaml'

    For more information, try '--help'.
    "#);
    insta::assert_snapshot!(run(&["rendr"]).run().await, @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: unrecognized subcommand 'rendr'

      tip: a similar subcommand exists: 'render'

    Usage: mainstay [OPTIONS] <COMMAND>

    For more information, try '--help'.
    "#);
}
