//! Derives callouts from the facts of webhook configurations and APIServices.

use std::sync::Arc;

use crate::callouts::{Callout, CalloutRole, Callouts};
use crate::cluster::Cluster;
use crate::ids::{NONE, ObjectId};
use crate::links::Links;
use crate::object::{Answerer, ApiServiceFacts, Facts, Object, Verb, WebhookFacts};

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
                    let ApiServiceFacts {
                        group_version,
                        answered_by,
                    } = &**service;
                    let role = CalloutRole::Api {
                        group_version: group_version.as_str().into(),
                    };
                    self.callouts
                        .add(callout(cluster, id, role, answered_by), &[], |id| {
                            cluster.nodes[id].kind
                        });
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
    let WebhookFacts {
        name,
        url,
        answered_by,
        requests,
    } = webhook;
    let role = CalloutRole::Webhook {
        name: name.as_str().into(),
        url: url.as_str().into(),
    };
    let asks: Vec<(ObjectId, &[Verb])> = requests
        .iter()
        .flat_map(|requests| {
            requests
                .objects
                .iter()
                .filter_map(|key| Some((cluster.find(key)?, requests.verbs.as_slice())))
        })
        .collect();
    callouts.add(
        callout(cluster, configuration, role, answered_by),
        &asks,
        |id| cluster.nodes[id].kind,
    );
}

fn callout(cluster: &Cluster, object: ObjectId, role: CalloutRole, answerer: &Answerer) -> Callout {
    let pods = answerer
        .pods
        .as_ref()
        .map(|pods| pods.iter().filter_map(|pod| cluster.find(pod)).collect());
    let service = cluster.find(&answerer.service).unwrap_or(NONE);
    Callout {
        object,
        service,
        pods,
        role,
        called: Arc::new(answerer.service.clone()),
    }
}
