//! Browsers beside the tests: containers that start before them and end with them.

use k8s_openapi::{
    api::core::v1::{Container, EmptyDirVolumeSource, Volume, VolumeMount},
    apimachinery::pkg::api::resource::Quantity,
};
use mainstay_api::clowder::environment::testing::IqeBrowser;

use super::{Stage, mount, variables::variable};
use crate::{
    job::naming,
    providers::{images, pod},
};

const SELENIUM: &str = "quay.io/app-sre/selenium-standalone-chrome";
const SELENIUM_TAG: &str = "136.0-20250828";
const PLAYWRIGHT: &str = "quay.io/redhat-services-prod/insights-management-tenant/playwright-images/playwright-vnc-chromium";
const PLAYWRIGHT_TAG: &str = "latest";

/// Volume of the memory that browsers share with themselves.
const SHARED_MEMORY: &str = "shm";
/// Volume of what Selenium downloads.
const DOWNLOADS: &str = "sel-downloads";

/// The containers, and what they bring along.
#[derive(Debug, Default)]
pub(super) struct Browsers {
    pub(super) containers: Vec<Container>,
    pub(super) volumes: Vec<Volume>,
    /// Mounts of the container of the tests.
    pub(super) mounts: Vec<VolumeMount>,
}

/// The browsers that the invocation asks for, in this order.
pub(super) fn containers(stage: &Stage<'_>) -> Browsers {
    let wanted = &stage.run().ui;
    let given = &stage.testing().iqe.ui;
    let mut browsers = Browsers::default();
    if wanted.selenium.deploy || wanted.playwright.deploy {
        browsers.volumes.push(memory(SHARED_MEMORY, None));
    }
    if wanted.selenium.deploy {
        browsers.volumes.push(memory(DOWNLOADS, Some("64Mi")));
        browsers.mounts.push(mount(DOWNLOADS, "/sel-downloads"));
        let image = image(
            given.selenium.image_base.as_str(),
            SELENIUM,
            &[
                &wanted.selenium.image_tag,
                &given.selenium.default_image_tag,
                SELENIUM_TAG,
            ],
        );
        let mut container = container(stage, "sel", image, &given.selenium);
        let mounts = container.volume_mounts.get_or_insert_default();
        mounts.push(mount(DOWNLOADS, "/home/selenium/Downloads"));
        browsers.containers.push(container);
    }
    if wanted.playwright.deploy {
        let image = image(
            given.playwright.image_base.as_str(),
            PLAYWRIGHT,
            &[
                &wanted.playwright.image_tag,
                &given.playwright.default_image_tag,
                PLAYWRIGHT_TAG,
            ],
        );
        browsers.containers.push(Container {
            env: Some(vec![variable("PW_HEADLESS", "true")]),
            ..container(stage, "pw", image, &given.playwright)
        });
    }
    browsers
}

fn image(base: &str, default: &str, tags: &[&str]) -> String {
    format!(
        "{}:{}",
        images::first(&[base, default]),
        images::first(tags)
    )
}

fn container(stage: &Stage<'_>, end: &str, image: String, given: &IqeBrowser) -> Container {
    let tests = naming::tests_name(stage.invocation);
    pod::with_termination(Container {
        name: format!("{tests}-{end}"),
        image: Some(image),
        image_pull_policy: Some(pod::IF_NOT_PRESENT.to_owned()),
        resources: Some(pod::resources(
            &given.resources,
            &stage.shared.environment.spec.resource_defaults,
        )),
        // An init container that is always restarted runs beside the others.
        restart_policy: Some("Always".to_owned()),
        volume_mounts: Some(vec![mount(SHARED_MEMORY, "/dev/shm")]),
        ..Container::default()
    })
}

fn memory(name: &str, limit: Option<&str>) -> Volume {
    Volume {
        name: name.to_owned(),
        empty_dir: Some(EmptyDirVolumeSource {
            medium: Some("Memory".to_owned()),
            size_limit: limit.map(|limit| Quantity(limit.to_owned())),
        }),
        ..Volume::default()
    }
}
