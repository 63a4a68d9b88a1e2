#!/usr/bin/env python3
"""Looks for inputs below 10 MB that cost more than one second of processor time or 256 MB of data.

    python3 fuzz/bounds.py BINARY [--only SHAPE] [--command COMMAND] [--bytes N] [--all]

Each shape repeats something until the file is full; each command reads it under limits of the operating system. Prints what went
beyond the bound, with its time (user + system, the least of three runs) and memory (resident); `--all` prints every run. Where
256 MB of data were not enough, a run without that limit says how much it takes. BINARY is an optimised build. What is found
belongs into tests/it/hostile/bounds.rs.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile

SECONDS, SPACE = 1, 256 << 20
WIDE_SECONDS, WIDE_SPACE = 20, 6 << 30

SHAPES = {}


def shape(make):
    SHAPES[make.__name__] = make
    return make


def repeated(unit, size, head="", tail=""):
    """HEAD, then UNIT with its number for each `#`, as often as it fits, then TAIL."""
    if "#" not in unit:
        return head + unit * ((size - len((head + tail).encode())) // len(unit.encode())) + tail
    parts, used, number = [head], len(head) + len(tail), 0
    while True:
        text = unit.replace("#", str(number))
        used += len(text.encode())
        if used > size:
            return "".join(parts) + tail
        parts.append(text)
        number += 1


def simple(name, unit, head="", tail=""):
    def make(size):
        return repeated(unit, size, head, tail)
    make.__name__ = name
    shape(make)


CM = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: a}\n"
UID = "3f2a61c8-9d1e-4a77-b0c5-%012d"

# Text.
for name, unit in {
    "empty_documents": "---\n", "null_documents": "---\n~\n", "brace_documents": "---\n{}\n", "list_documents": "---\n[]\n",
    "small_documents": "---\na: #\n", "comment_documents": "---\n# x\n", "scalar_documents": "---\nx\n", "ends": "...\n",
    "ends_and_begins": "...\n---\n", "unreadable_documents": "---\n[\n", "unreadable_manifests": "---\napiVersion: [\n",
    "newlines": "\n", "returns": "\r", "spaces": " ", "tabs": "\t", "hashes": "#", "comments": "# x\n", "comment_lines": "#\n", "nul": "\0",
    "boms": "\ufeff", "nel": "\u0085", "separators": "\u2028", "bidi": "\u202e", "words": "x ", "long_word": "x", "emoji": "😀",
    "templates": "{{ x }}\n", "template_documents": "---\nkind: {{ x }}\n", "directives_percent": "%TAG !a# !b\n", "percent": "%\n",
    "colons": ":", "colon_space": ": ", "dashes": "-", "dash_space": "- ", "questions": "? ", "question_lines": "?\n", "ampersands": "&a ",
    "stars": "*", "bangs": "! ", "pipes": "|\n", "braces": "{", "brackets": "[", "closing": "]", "quotes": '"', "single_quotes": "'",
    "escapes": '"\\u0041', "ats": "@\n", "merge_conflict": "<<<<<<< a\n=======\n>>>>>>> b\n", "json_lines": '{"a":1}\n', "json_null": "null\n",
    "json_arrays": "[[[]]]", "unreadable_kind_lines": "kind: x\nkind: [\n---\n",
}.items():
    simple(name, unit)

# One document with much in it.
for name, unit, head, tail in [
    ("flow_nulls", ",", CM + "data: [", "]\n"), ("flow_words", "a,", CM + "data: [", "]\n"), ("flow_keys", "k#,", CM + "data: {", "}\n"),
    ("flow_same_keys", "k,", CM + "data: {", "}\n"), ("flow_pairs", "a: b,", CM + "data: [", "]\n"), ("flow_empties", "{},", CM + "data: [", "]\n"),
    ("flow_lists", "[],", CM + "data: [", "]\n"), ("block_nulls", "- \n", CM + "data:\n", ""), ("block_items", "- a\n", CM + "data:\n", ""),
    ("block_keys", "  k#: v\n", CM + "data:\n", ""), ("block_same_keys", "  k: v\n", CM + "data:\n", ""), ("block_empty_keys", "  ? \n", CM + "data:\n", ""),
    ("nel_in_a_manifest", "\u0085", CM, "data: {}\n"), ("comments_without_blanks", "- 'x'#y\n", CM + "data:\n", ""),
    ("top_keys", "k#: v\n", CM, ""), ("number_keys", "  0x#: v\n", CM + "data:\n", ""), ("bool_keys", "  yes: v\n", CM + "data:\n", ""),
    ("null_keys", "  ~: v\n", CM + "data:\n", ""), ("list_keys", "  ? [a]\n  : b\n", CM + "data:\n", ""),
    ("anchors", "- &a# x\n", CM + "data:\n", ""), ("same_anchors", "- &a x\n", CM + "data:\n", ""),
    ("aliases", "- *a\n", CM + "x: &a b\ndata:\n", ""), ("flow_aliases", "*a ,", CM + "x: &a b\ndata: [", "]\n"),
    ("merges", "- {<<: *a}\n", CM + "x: &a {a: b, c: d, e: f}\ndata:\n", ""), ("merge_lists", "*a ,", CM + "x: &a {a: b, c: d}\ndata: {<<: [", "]}\n"),
    ("tags", "- !x a\n", CM + "data:\n", ""), ("binary", "- !!binary aGk=\n", CM + "data:\n", ""), ("unknown_tags", "- !a#!b c\n", CM + "data:\n", ""),
    ("literal", "    line #\n", CM + "data:\n  a: |\n", ""), ("folded", "    line #\n\n", CM + "data:\n  a: >\n", ""),
    ("plain_lines", "    word #\n", CM + "data:\n  a: x\n", ""), ("quoted_lines", "    word #\n", CM + 'data:\n  a: "\n', '    "\n'),
    ("escaped", "\\u00e9", CM + 'data:\n  a: "', '"\n'), ("doubled", "''", CM + "data:\n  a: '", "'\n"),
    ("disputed", "- 0777\n", CM + "data:\n", ""), ("sexagesimal", "- 1:2:3\n", CM + "data:\n", ""), ("dates", "- 2001-01-01\n", CM + "data:\n", ""),
    ("numbers", "- 1e400\n", CM + "data:\n", ""), ("long_number", "9", CM + "data: ", "\n"), ("commented_lines", "  k#: v # x\n", CM + "data:\n", ""),
    ("deep_at_last", "[", CM + "data: ", "\n"), ("tails", "...\nx\n", CM, ""), ("binary_bytes", "\x01", CM + "data: ", "\n"),
    ("ignored", "# ownerlint: ignore[finalizer-unknown] x\n", "", CM), ("ignored_document", "# ownerlint: ignore-document[finalizer-unknown] x\n", "", CM),
    ("ignored_file", "# ownerlint: ignore-file[finalizer-unknown] x\n", "", CM), ("ignored_wrongly", "# ownerlint: x\n", "", CM),
    ("ignored_rules", "finalizer-unknown,", "# ownerlint: ignore[", "] x\n" + CM), ("ignore_annotations", "    ignore.ownerlint/finalizer-unknown#: x\n", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations:\n", ""),
    ("references", "  - {apiVersion: v1, kind: ConfigMap, name: o#, uid: u#}\n", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: a\n  ownerReferences:\n", ""),
    ("controllers", "  - {apiVersion: v1, kind: ConfigMap, name: o#, uid: u#, controller: true}\n", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: a\n  ownerReferences:\n", ""),
    ("same_references", "  - {apiVersion: v1, kind: ConfigMap, name: o, uid: u}\n", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: a\n  ownerReferences:\n", ""),
    ("empty_references", "  - {}\n", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: a\n  ownerReferences:\n", ""),
    ("wrong_references", "  - x\n", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: a\n  ownerReferences:\n", ""),
    ("finalizers", "  - example.com/f#\n", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: a\n  finalizers:\n", ""),
    ("same_finalizers", "  - example.com/f\n", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: a\n  finalizers:\n", ""),
    ("bad_finalizers", "  - f\n", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: a\n  finalizers:\n", ""),
    ("labels", "    l#: x\n", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: a\n  labels:\n", ""),
    ("annotations", "    a#: x\n", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: a\n  annotations:\n", ""),
    ("list_items", "- {apiVersion: v1, kind: ConfigMap, metadata: {name: a#, namespace: a}}\n", "apiVersion: v1\nkind: List\nitems:\n", ""),
    ("list_of_nothing", "- {}\n", "apiVersion: v1\nkind: List\nitems:\n", ""), ("list_of_nulls", "-\n", "apiVersion: v1\nkind: List\nitems:\n", ""),
    ("list_of_aliases", "- *a\n", "apiVersion: v1\nx: &a {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: a}}\nkind: List\nitems:\n", ""),
    ("json_list", '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a#","namespace":"a"}},', '{"apiVersion":"v1","kind":"List","items":[', '{}]}\n'),
    ("json_list_findings", '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a#","namespace":"a","finalizers":["bad"]}},', '{"apiVersion":"v1","kind":"List","items":[', '{}]}\n'),
    ("versions", "  - {name: v#, served: true, storage: false}\n", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ks.example.com}\nspec:\n  group: example.com\n  names: {kind: K, plural: ks}\n  scope: Namespaced\n  versions:\n", ""),
    ("short_names", "k#,", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ks.example.com}\nspec:\n  group: example.com\n  names: {kind: K, plural: ks, shortNames: [", "]}\n  scope: Namespaced\n  versions: [{name: v1, served: true, storage: true}]\n"),
    ("webhooks", "- {name: w#.example.com, clientConfig: {service: {name: s, namespace: a}}, rules: [{apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: ['*']}]}\n", "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: a}\nwebhooks:\n", ""),
    ("webhook_rules", "  - {apiGroups: ['g#'], apiVersions: ['*'], resources: ['*'], operations: ['*']}\n", "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: a}\nwebhooks:\n- name: w.example.com\n  clientConfig: {service: {name: s, namespace: a}}\n  rules:\n", ""),
    ("role_rules", "- {apiGroups: [g#], resources: [r#], verbs: [update]}\n", "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\nrules:\n", ""),
    ("subjects", "- {kind: ServiceAccount, name: s#, namespace: a}\n", "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: a}\nroleRef: {kind: ClusterRole, name: a, apiGroup: rbac.authorization.k8s.io}\nsubjects:\n", ""),
    ("claims_of_a_pod", "  - {name: v#, persistentVolumeClaim: {claimName: c#}}\n", "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: a}\nspec:\n  volumes:\n", ""),
    ("ephemeral_volumes", "      - {name: v#, ephemeral: {volumeClaimTemplate: {spec: {}}}}\n", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: a}\nspec:\n  replicas: 100\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n    spec:\n      volumes:\n", ""),
    ("claim_templates", "  - {metadata: {name: v#}, spec: {}}\n", "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: a, namespace: a}\nspec:\n  replicas: 100\n  selector: {matchLabels: {a: b}}\n  template: {metadata: {labels: {a: b}}}\n  volumeClaimTemplates:\n", ""),
    ("containers", "      - {name: c#, image: i#}\n", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: a}\nspec:\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n    spec:\n      containers:\n", ""),
    ("flux_resources", "  - {version: v1, kind: ConfigMap, namespace: a, name: c#}\n", "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: a}\nspec:\n  path: ./x\n  dependsOn:\n", ""),
    ("kustomize_sources", "- r#.yaml\n", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n", ""),
    ("managed_fields", "  - {manager: m#, operation: Apply, fieldsV1: {}}\n", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  managedFields:\n", ""),
    ("conditions", "  - {type: t#, status: 'True'}\n", CM + "status:\n  conditions:\n", ""),
    ("secret_data", "  k#: aGk=\n", "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: a, finalizers: [bad]}\ndata:\n", ""),
]:
    simple(name, unit, head, tail)

# Many objects.
D = "---\n"


def many(name, unit, head=""):
    simple(name, D + unit, head)


def o(kind, rest="", version="v1", meta=""):
    return f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a#, namespace: a{meta}}}\n{rest}"


many("objects", o("ConfigMap"))
many("tiny_objects", "{apiVersion: v1, kind: Pod, metadata: {name: a#}}\n")
many("nameless", "{apiVersion: v1, kind: Pod}\n")
many("kindless", "{apiVersion: v1, metadata: {name: a#}}\n")
many("unknown_kinds", "{apiVersion: example.com/v1, kind: K#, metadata: {name: a#}}\n")
many("unknown_groups", "{apiVersion: g#.example.com/v1, kind: K, metadata: {name: a}}\n")
many("wrong_kinds", "{apiVersion: v1, kind: Deployment, metadata: {name: a#}}\n")
many("namesakes", "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: a}}\n")
many("namesakes_elsewhere", "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: n#}}\n")
many("generated_names", "{apiVersion: v1, kind: Pod, metadata: {generateName: a, namespace: a}}\n")
many("one_owner", o("ConfigMap", meta=", ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a0, uid: u0}]"))
many("missing_owners", o("ConfigMap", meta=", ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: o#, uid: u#}]"))
many("owners_of_unknown_kinds", o("ConfigMap", meta=", ownerReferences: [{apiVersion: x/v#, kind: K#, name: o#, uid: u#}]"))
many("owners_elsewhere", o("ConfigMap", meta="#, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a0, uid: u0}]"))
many("self_owned", o("ConfigMap", meta=", uid: u#, resourceVersion: '1', ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a#, uid: u#}]"))
many("dump", o("ConfigMap", meta=", uid: u#, resourceVersion: '1', creationTimestamp: '2024-01-01T00:00:00Z'"))
many("dump_one_uid", o("ConfigMap", meta=", uid: u, resourceVersion: '1'"))
many("dying", o("ConfigMap", meta=", uid: u#, resourceVersion: '1', deletionTimestamp: '2024-01-01T00:00:00Z', deletionGracePeriodSeconds: 0, finalizers: [example.com/x]"))
many("foreground", o("ConfigMap", meta=", uid: u#, resourceVersion: '1', deletionTimestamp: '2024-01-01T00:00:00Z', finalizers: [foregroundDeletion]"))
many("stuck", o("ConfigMap", meta=", finalizers: [example.com/x]"))
many("stuck_customs", o("Widget", version="example.com/v1", meta=", finalizers: [example.com/x]"))
many("bad_finalizer_each", o("ConfigMap", meta=", finalizers: [bad]"))
many("secrets", o("Secret", "data: {a: aGk=}\n", meta=", finalizers: [bad]"))
many("pods", o("Pod", "spec: {containers: [{name: a, image: b}]}\n", meta=", labels: {a: b}"))
many("services", o("Service", "spec: {selector: {a: b}}\n"))
many("namespaces", "apiVersion: v1\nkind: Namespace\nmetadata: {name: n#}\n")
many("stuck_namespaces", "apiVersion: v1\nkind: Namespace\nmetadata: {name: n#}\nspec: {finalizers: [example.com/x]}\n")
many("namespaces_and_objects", "apiVersion: v1\nkind: Namespace\nmetadata: {name: n#}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: n#, finalizers: [example.com/x]}\n")
many("deployments", o("Deployment", "spec: {selector: {matchLabels: {a: a#}}, template: {metadata: {labels: {a: a#}}, spec: {containers: [{name: a, image: b}]}}}\n", "apps/v1"))
many("replicas", o("Deployment", "spec: {replicas: 100000, selector: {matchLabels: {a: a#}}, template: {metadata: {labels: {a: a#}}}}\n", "apps/v1"))
many("stateful", o("StatefulSet", "spec: {replicas: 100000, serviceName: a, selector: {matchLabels: {a: a#}}, template: {metadata: {labels: {a: a#}}}, volumeClaimTemplates: [{metadata: {name: d}, spec: {}}]}\n", "apps/v1"))
many("jobs", o("Job", "spec: {completions: 100000, parallelism: 100000, template: {spec: {}}}\n", "batch/v1"))
many("cron_jobs", o("CronJob", "spec: {jobTemplate: {spec: {completions: 100000, template: {spec: {}}}}}\n", "batch/v1"))
many("pods_and_deployments_with_one_selector", o("Deployment", "spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}}}\n", "apps/v1") + D + o("Pod", meta=", labels: {a: b}"))
many("services_and_pods", o("Service", "spec: {selector: {a: b}}\n") + D + o("Pod", meta=", labels: {a: b}"))
many("services_and_slices", o("Service", "spec: {selector: {a: b}}\n") + D + o("EndpointSlice", version="discovery.k8s.io/v1", meta=", labels: {kubernetes.io/service-name: a0}"))
many("claims", o("PersistentVolumeClaim", "spec: {volumeName: v#, storageClassName: s}\n") + D + o("PersistentVolume", "spec: {claimRef: {name: a#, namespace: a}, storageClassName: s}\n"))
many("pods_and_claims", o("Pod", "spec: {volumes: [{name: d, persistentVolumeClaim: {claimName: a0}}]}\n") + D + o("PersistentVolumeClaim"))
many("storage_classes", o("StorageClass", "provisioner: p#\n", "storage.k8s.io/v1"))
many("definitions", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ks#.example.com}\nspec: {group: example.com, names: {kind: K#, plural: ks#}, scope: Namespaced, versions: [{name: v1, served: true, storage: true}]}\n")
many("same_definitions", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ks.example.com}\nspec: {group: example.com, names: {kind: K, plural: ks}, scope: Namespaced, versions: [{name: v1, served: true, storage: true}]}\n")
many("definitions_and_instances", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ks#.example.com}\nspec: {group: example.com, names: {kind: K#, plural: ks#}, scope: Namespaced, versions: [{name: v1, served: true, storage: true}]}\n---\napiVersion: example.com/v1\nkind: K#\nmetadata: {name: a, namespace: a, finalizers: [example.com/x]}\n")
many("instances_of_one_definition", "apiVersion: example.com/v1\nkind: K\nmetadata: {name: a#, namespace: a, finalizers: [example.com/x]}\n", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ks.example.com}\nspec: {group: example.com, names: {kind: K, plural: ks}, scope: Namespaced, versions: [{name: v1, served: true, storage: true}]}\n")
many("conversion_webhooks", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ks#.example.com}\nspec: {group: example.com, conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: s#, namespace: a}}}}, names: {kind: K#, plural: ks#}, scope: Namespaced, versions: [{name: v1, served: true, storage: true}]}\n")
WEBHOOK = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: w%s}\nwebhooks: [{name: w.example.com, clientConfig: {service: {name: s%s, namespace: a}}, rules: [{apiGroups: ['%s'], apiVersions: ['*'], resources: ['*'], operations: ['*']}]}]\n"
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: s%s, namespace: a}\nspec: {selector: {a: b}}\n"
many("webhook_configurations", WEBHOOK % ("#", "#", "*"))
many("webhooks_and_objects", WEBHOOK % ("#", "#", "*") + D + o("ConfigMap") + D + SERVICE % "#")
POD = o("Pod", meta=", labels: {a: b}")
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\n"
many("webhooks_and_kinds", WEBHOOK % ("#", 0, "g#") + "---\napiVersion: g#/v1\nkind: K\nmetadata: {name: x, namespace: a}\n", NAMESPACE + SERVICE % 0 + D + POD.replace("#", "x"))
many("webhooks_and_pods", WEBHOOK % ("#", 0, "example.com") + D + POD, NAMESPACE + SERVICE % 0)
many("services_of_the_same_pods", WEBHOOK % ("#", "#", "example.com") + D + SERVICE % "#" + D + POD, NAMESPACE)
many("a_webhook_and_its_pods", POD + D + o("ConfigMap"), NAMESPACE + SERVICE % 0 + D + WEBHOOK % (0, 0, "*"))
many("an_api_and_namespaces", "apiVersion: v1\nkind: Namespace\nmetadata: {name: n#}\n", NAMESPACE + SERVICE % 0 + D + POD.replace("#", "x") + "---\napiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.example.com}\nspec: {group: example.com, version: v1, service: {name: s0, namespace: a}}\n")
many("api_services", "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.g#.example.com}\nspec: {group: g#.example.com, version: v1, service: {name: s#, namespace: a}}\n")
many("policies", o("ValidatingAdmissionPolicy", "spec: {matchConstraints: {resourceRules: [{apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: ['*']}]}}\n", "admissionregistration.k8s.io/v1"))
many("roles", "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r#}\nrules: [{apiGroups: [g#], resources: ['*'], verbs: [update]}]\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: r#}\nroleRef: {kind: ClusterRole, name: r#, apiGroup: rbac.authorization.k8s.io}\nsubjects: [{kind: ServiceAccount, name: s#, namespace: a}]\n")
many("bindings_to_one_role", "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: r#}\nroleRef: {kind: ClusterRole, name: r, apiGroup: rbac.authorization.k8s.io}\nsubjects: [{kind: ServiceAccount, name: s#, namespace: a}]\n", "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\nrules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]\n")
many("operators_and_customs", "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r#}\nrules: [{apiGroups: [example.com], resources: [widgets, widgets/finalizers], verbs: [update]}]\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: r#}\nroleRef: {kind: ClusterRole, name: r#, apiGroup: rbac.authorization.k8s.io}\nsubjects: [{kind: ServiceAccount, name: s#, namespace: a}]\n---\n" + o("Deployment", "spec: {selector: {matchLabels: {a: a#}}, template: {metadata: {labels: {a: a#}}, spec: {serviceAccountName: s#, containers: [{name: a, image: b}]}}}\n", "apps/v1") + D + o("Widget", version="example.com/v1", meta=", finalizers: [example.com/x]"))
many("service_accounts", o("ServiceAccount"))

def bound(rule, subject, customs, role=""):
    """An operator, its role, a binding of SUBJECT, and an object."""
    rbac = "rbac.authorization.k8s.io"
    operator = o("StatefulSet", "spec: {template: {spec: {serviceAccountName: s#, containers: [{name: argocd, image: 'quay.io/argoproj/argocd:v3.1.0'}]}}}\n", "apps/v1")
    return (operator + D + f"apiVersion: {rbac}/v1\nkind: ClusterRole\nmetadata: {{name: r#, labels: {{a: b}}}}\n{role}rules: [{rule}]\n" + D
            + f"apiVersion: {rbac}/v1\nkind: ClusterRoleBinding\nmetadata: {{name: r#}}\nroleRef: {{kind: ClusterRole, name: r#, apiGroup: {rbac}}}\nsubjects: [{subject}]\n" + D + customs)


ACCOUNT = "{kind: ServiceAccount, name: s#, namespace: a}"
EVERYBODY = "{kind: Group, name: 'system:serviceaccounts'}"
WIDGET = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: x, namespace: n#, finalizers: [example.com/x]}\n"
many("operators_with_roles", bound("{apiGroups: [argoproj.io], resources: [applications], verbs: [update]}", ACCOUNT, "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: x, namespace: n#, finalizers: [resources-finalizer.argocd.argoproj.io]}\n"))
many("roles_for_single_objects", bound("{apiGroups: [example.com], resources: [widgets], resourceNames: [y#], verbs: [update]}", ACCOUNT, WIDGET))
many("roles_of_unknown_kinds", bound("{apiGroups: [example.com], resources: ['*'], resourceNames: [y], verbs: [update]}", ACCOUNT, WIDGET.replace("Widget", "K#")))
many("roles_that_aggregate", bound("{apiGroups: [example.com], resources: [widgets], verbs: [update]}", EVERYBODY, WIDGET, "aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}\n"))
many("flux", o("Kustomization", "spec: {path: ./p#, prune: true, sourceRef: {kind: GitRepository, name: a}}\n", "kustomize.toolkit.fluxcd.io/v1"))
many("flux_dependencies", o("Kustomization", "spec: {path: ./p, prune: true, dependsOn: [{name: a0}], sourceRef: {kind: GitRepository, name: a}}\n", "kustomize.toolkit.fluxcd.io/v1"))
many("helm_releases", o("HelmRelease", "spec: {chart: {spec: {chart: x, sourceRef: {kind: HelmRepository, name: y}}}}\n", "helm.toolkit.fluxcd.io/v2"))
many("applications", o("Application", "spec: {destination: {namespace: a}, source: {repoURL: x, path: p#}, syncPolicy: {automated: {prune: true}}}\n", "argoproj.io/v1alpha1", ", finalizers: [resources-finalizer.argocd.argoproj.io]"))
many("application_sets", o("ApplicationSet", "spec: {generators: [{list: {elements: [{a: b}]}}], template: {metadata: {name: x}, spec: {destination: {namespace: a}}}}\n", "argoproj.io/v1alpha1"))
many("hooks", o("Job", "spec: {template: {spec: {}}}\n", "batch/v1", ", annotations: {helm.sh/hook: post-delete, helm.sh/hook-weight: '#'}"))
many("argo_hooks", o("Job", "spec: {template: {spec: {}}}\n", "batch/v1", ", annotations: {argocd.argoproj.io/hook: PostDelete, argocd.argoproj.io/sync-wave: '#'}"))
many("waves", o("ConfigMap", meta=", annotations: {argocd.argoproj.io/sync-wave: '#'}"))
many("kept", o("ConfigMap", meta=", annotations: {helm.sh/resource-policy: keep}"))
many("external_secrets", o("ExternalSecret", "spec: {target: {name: s#}}\n", "external-secrets.io/v1") + D + "apiVersion: v1\nkind: Secret\nmetadata: {name: s#, namespace: a}\n")
many("certificates", o("Certificate", "spec: {secretName: s}\n", "cert-manager.io/v1") + D + "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: a}\n")
many("generators_of_one_secret", o("ExternalSecret", "spec: {target: {name: s}}\n", "external-secrets.io/v1"))
many("capi", o("Machine", "spec: {clusterName: c, infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: AWSMachine, name: a#}}\n", "cluster.x-k8s.io/v1beta1") + D + o("Cluster", version="cluster.x-k8s.io/v1beta1"))
many("crossplane", o("Claim", "spec: {resourceRef: {apiVersion: x/v1, kind: X, name: a#}}\n", "example.org/v1"))
many("rook", o("CephCluster", version="ceph.rook.io/v1") + D + o("CephBlockPool", version="ceph.rook.io/v1"))
many("ingresses", o("Ingress", "spec: {rules: [{http: {paths: [{backend: {service: {name: a0}}}]}}]}\n", "networking.k8s.io/v1"))
many("leases", o("Lease", version="coordination.k8s.io/v1"))
many("nodes", "apiVersion: v1\nkind: Node\nmetadata: {name: n#}\n---\n" + o("Pod", "spec: {nodeName: n#}\n"))
many("ignored_objects", "# ownerlint: ignore[finalizer-unqualified] x\n" + o("ConfigMap", meta=", finalizers: [bad]"))
many("test_assertions", "apiVersion: kuttl.dev/v1beta1\nkind: TestAssert\n")
many("long_names", "{apiVersion: v1, kind: Pod, metadata: {name: " + "a" * 900 + "#, namespace: a}}\n")
many("sources", "# Source: x/templates/a#.yaml\n{apiVersion: v1, kind: Pod, metadata: {name: a#}}\n")
many("patches", o("ConfigMap", "$patch: delete\n"))
many("budgeted_aliases", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a#}\nx:\n- &a [x,x,x,x,x,x,x,x]\n- &b [*a,*a,*a,*a,*a,*a,*a,*a]\n- &c [*b,*b,*b,*b,*b,*b,*b,*b]\n- &d [*c,*c,*c,*c,*c,*c,*c,*c]\n- &e [*d,*d,*d,*d,*d,*d,*d,*d]\n- [*e,*e]\n")
many("list_bomb", "apiVersion: v1\nkind: List\nx:\n- &a [{apiVersion: v1, kind: ConfigMap, metadata: {name: a#}},{apiVersion: v1, kind: ConfigMap, metadata: {name: b#}}]\n- &b {apiVersion: v1, kind: List, items: *a}\n- &c [*b,*b,*b,*b,*b,*b,*b,*b]\n- &d {apiVersion: v1, kind: List, items: *c}\n- &e [*d,*d,*d,*d,*d,*d,*d,*d]\n- &f {apiVersion: v1, kind: List, items: *e}\n- &g [*f,*f,*f,*f,*f,*f,*f,*f]\n- &h {apiVersion: v1, kind: List, items: *g}\nitems: [*h,*h,*h,*h,*h,*h,*h,*h]\n")
many("merge_bomb", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a#}\nx: &a {a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8, i: 9, j: 10}\ndata: {<<: [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]}\n")


def linked(unit, size):
    """UNIT with `#` for its number and `@` for the next one's."""
    parts, used, number = [], 0, 0
    while True:
        text = unit.replace("#", str(number)).replace("@", str(number + 1))
        used += len(text)
        if used > size:
            return "".join(parts)
        parts.append(text)
        number += 1


def chain(kind, version, meta=""):
    return f"---\napiVersion: {version}\nkind: {kind}\nmetadata: {{name: a#, namespace: a, uid: u#, resourceVersion: '1', ownerReferences: [{{apiVersion: {version}, kind: {kind}, name: a@, uid: u@, blockOwnerDeletion: true}}]{meta}}}\n"


@shape
def owner_chain(size):
    return linked(chain("ConfigMap", "v1"), size)


@shape
def foreground_chain(size):
    return linked(chain("ConfigMap", "v1", ", finalizers: [foregroundDeletion], deletionTimestamp: '2024-01-01T00:00:00Z'"), size)


@shape
def rendered_chain(size):
    return linked("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a#, namespace: a, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a@, uid: ''}]}\n", size)


@shape
def owner_ring(size):
    text = linked(chain("ConfigMap", "v1"), size - 300)
    last = text.count("---\n")
    return text + chain("ConfigMap", "v1").replace("#", str(last)).replace("@", "0")


@shape
def application_chain(size):
    return linked("---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a#, namespace: a}\nspec: {path: ./p#, prune: true, dependsOn: [{name: a@}], sourceRef: {kind: GitRepository, name: a}}\n", size)


@shape
def levels_of_indentation(size):
    text, level = [], 0
    used = 0
    while used + level + 3 < size:
        text.append(" " * level + "a:\n")
        used += level + 3
        level += 1
    return CM + "".join(text)[: size - len(CM)]


@shape
def owners_times_dependents(size):
    """As many references in each as there are objects: the square of one side."""
    count = int((size / 60) ** 0.5)
    refs = ", ".join(f"{{apiVersion: v1, kind: Pod, name: a{n}, uid: u{n}}}" for n in range(count))
    return "".join(
        f"---\n{{apiVersion: v1, kind: Pod, metadata: {{name: a{n}, namespace: a, uid: u{n}, resourceVersion: '1', ownerReferences: [{refs}]}}}}\n"
        for n in range(count))


@shape
def long_tag_prefix(size):
    return repeated("- !a x\n", size, "%TAG ! !" + "x" * (size // 2) + "\r---\r" + CM + "data:\n")


@shape
def namesakes_times_references(size):
    half = repeated("---\n{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: n#}}\n", size // 2)
    refs = repeated("  - {apiVersion: v1, kind: Pod, name: a, uid: u#}\n", size // 2 - 200)
    return half + "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: b\n  namespace: b\n  ownerReferences:\n" + refs


@shape
def aliased_references(size):
    head = "apiVersion: v1\nkind: List\nx: &a\n" + "".join(f"- {{apiVersion: v1, kind: ConfigMap, name: o{n}, uid: u{n}}}\n" for n in range(2000)) + "items:\n"
    return repeated("- {apiVersion: v1, kind: ConfigMap, metadata: {name: a#, namespace: a, ownerReferences: *a}}\n", size, head)


@shape
def aliased_pods(size):
    head = "apiVersion: v1\nkind: List\nx: &a {spec: {volumes: [" + ",".join(f"{{name: v{n}, ephemeral: {{volumeClaimTemplate: {{spec: {{}}}}}}}}" for n in range(500)) + "]}}\nitems:\n"
    return repeated("- {apiVersion: apps/v1, kind: Deployment, metadata: {name: a#, namespace: a}, spec: {replicas: 100, template: *a}}\n", size, head)


@shape
def aliased_documents_with_finalizers(size):
    head = "apiVersion: v1\nkind: List\nx: &a [" + ",".join(f"example.com/f{n}" for n in range(1000)) + "]\nitems:\n"
    return repeated("- {apiVersion: v1, kind: ConfigMap, metadata: {name: a#, namespace: a, finalizers: *a}}\n", size, head)


COMMANDS = {
    "check": ["check", "-o", "concise", "{input}"],
    "human": ["check", "--show", "info", "-o", "human", "{input}"],
    "json": ["check", "-o", "json", "{input}"],
    "html": ["check", "-o", "html", "{input}"],
    "lsp": ["check", "-o", "lsp", "{input}"],
    "sarif": ["check", "-o", "sarif", "{input}"],
    "markdown": ["check", "-o", "markdown", "{input}"],
    "github": ["check", "-o", "github", "{input}"],
    "gitlab": ["check", "-o", "gitlab", "{input}"],
    "junit": ["check", "-o", "junit", "{input}"],
    "rdjson": ["check", "-o", "rdjson", "{input}"],
    "closed": ["check", "--world", "closed", "-o", "concise", "{input}"],
    "fix": ["check", "--diff", "--suggested", "-o", "concise", "{input}"],
    "list": ["list", "-o", "json", "{input}"],
    "plan": ["plan", "delete", "ns/a", "-f", "{input}"],
    "plan-json": ["plan", "delete", "ns/a", "-o", "json", "-f", "{input}"],
    "plan-html": ["plan", "delete", "ns/a", "-o", "html", "-f", "{input}"],
    "helm": ["plan", "teardown", "--by", "helm", "-n", "a", "--fail-on", "never", "{input}"],
    "argocd": ["plan", "teardown", "--by", "argocd", "--fail-on", "never", "{input}"],
    "flux": ["plan", "teardown", "--by", "flux", "--fail-on", "never", "{input}"],
    "kubectl": ["plan", "teardown", "--by", "kubectl", "--fail-on", "never", "{input}"],
    "namespace": ["plan", "teardown", "--by", "namespace", "--fail-on", "never", "{input}"],
    "diff-added": ["diff", "--base", "{empty}", "--head", "{folder}", "--fail-on", "never"],
    "diff-removed": ["diff", "--base", "{folder}", "--head", "{empty}", "--fail-on", "never"],
    "diff-json": ["diff", "--base", "{folder}", "--head", "{empty}", "--fail-on", "never", "-o", "json"],
    "diff-argocd": ["diff", "--base", "{folder}", "--head", "{empty}", "--by", "argocd", "--fail-on", "never", "-o", "json"],
}


def run(binary, arguments, seconds, space):
    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_DATA, (space, space))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryFile() as error:
        process = subprocess.Popen([binary, *arguments], stdout=subprocess.DEVNULL, stderr=error, preexec_fn=limits)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        error.seek(0)
        message = error.read(4000).decode(errors="replace")
    return process.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, message


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--command", action="append", default=[])
    parser.add_argument("--bytes", type=int, default=9_990_000)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    commands = options.command or list(COMMANDS)
    over, slowest, largest = 0, (0, ""), (0, "")
    for name in options.only or list(SHAPES):
        with tempfile.TemporaryDirectory() as folder:
            data, empty = os.path.join(folder, "data"), os.path.join(folder, "empty")
            os.mkdir(data)
            os.mkdir(empty)
            path = os.path.join(data, "input.yaml")
            text = SHAPES[name](options.bytes).encode()
            assert len(text) <= 10_000_000, (name, len(text))
            with open(path, "wb") as file:
                file.write(text)
            for command in commands:
                places = {"input": path, "folder": data, "empty": empty}
                arguments = [word.format(**places) for word in COMMANDS[command]]
                arguments += ["--threads", "2", "--no-config"] + (["--allow-empty"] if arguments[0] == "check" else [])
                held, time, memory, message = run(options.binary, arguments, WIDE_SECONDS, SPACE)
                assert "Usage:" not in message, message
                fits = held in (0, 1, 2, 3)
                if not fits:
                    held, time, memory, message = run(options.binary, arguments, WIDE_SECONDS, WIDE_SPACE)
                for _ in range(2):
                    if SECONDS < time < WIDE_SECONDS - 1:
                        time = min(time, run(options.binary, arguments, WIDE_SECONDS, WIDE_SPACE)[1])
                broken = not fits or time > SECONDS
                slowest = max(slowest, (time, f"{name} {command}"))
                largest = max(largest, (memory, f"{name} {command}"))
                over += broken
                if broken or options.all:
                    mark = "OVER" if broken else "    "
                    last = message.strip().splitlines()[-1][:90] if message.strip() else ""
                    print(f"{mark} {name:32} {command:12} {time:6.2f} s {memory >> 20:5} MB  {'' if fits else 'data'} status {held:3}  {last if held not in (0, 1) else ''}", flush=True)
    print(f"{over} beyond the bound; slowest {slowest[0]:.2f} s {slowest[1]}; largest {largest[0] >> 20} MB {largest[1]}")
    sys.exit(over > 0)


main()
