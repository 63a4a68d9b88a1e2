//! Derives callouts from the facts of webhook configurations and APIServices.

use std::sync::Arc;

use crate::callouts::{Callout, CalloutRole, Callouts};
use crate::cluster::Cluster;
use crate::ids::{NONE, ObjectId};
use crate::links::Links;
use crate::object::{Facts, Object, ServiceBackend, Verb, WebhookFacts};

impl Links {
    /// Adds the callouts of `objects`, which are in the order of their ids.
    pub(super) fn add_callouts(&mut self, cluster: &Cluster, objects: &[Object]) {
        for (id, object) in cluster.ids().zip(objects) {
            match &object.facts {
                Facts::Webhooks(webhooks) => {
                    for webhook in webhooks {
                        add_webhook(&mut self.callouts, cluster, id, webhook);
                    }
                }
                Facts::ApiService(service) => {
                    let role = CalloutRole::Api {
                        group_version: service.group_version.as_str().into(),
                    };
                    let callout = callout(cluster, id, role, &service.backend);
                    self.callouts.add(cluster, callout, &[]);
                }
                _ => {}
            }
        }
    }
}

fn add_webhook(
    callouts: &mut Callouts,
    cluster: &Cluster,
    configuration: ObjectId,
    webhook: &WebhookFacts,
) {
    let role = CalloutRole::Webhook {
        name: webhook.name.as_str().into(),
        url: webhook.url.as_str().into(),
    };
    let requests = webhook.requests.iter().flat_map(|requests| {
        let objects = requests.objects.iter();
        objects.filter_map(|key| Some((cluster.find(key)?, requests.verbs.as_slice())))
    });
    let requests: Vec<(ObjectId, &[Verb])> = requests.collect();
    let callout = callout(cluster, configuration, role, &webhook.backend);
    callouts.add(cluster, callout, &requests);
}

fn callout(
    cluster: &Cluster,
    object: ObjectId,
    role: CalloutRole,
    backend: &ServiceBackend,
) -> Callout {
    let pods = backend
        .pods
        .as_ref()
        .map(|pods| pods.iter().filter_map(|pod| cluster.find(pod)).collect());
    let service = cluster.find(&backend.service).unwrap_or(NONE);
    Callout {
        object,
        service,
        pods,
        role,
        called: Arc::new(backend.service.clone()),
    }
}
