// Inputs that no fixture has: many objects, many findings, hostile names.

const objects = (list) => list.map((object) => JSON.stringify(object)).join("\n---\n");
const object = (kind, name, metadata = {}, rest = {}) => {
  const apiVersion = { Deployment: "apps/v1", StatefulSet: "apps/v1" }[kind] || "v1";
  return { apiVersion, kind, metadata: { name, ...metadata }, ...rest };
};
const range = (n) => [...Array(n).keys()];

/** A namespace with `n` objects: every tenth is held. */
export const many = (n) =>
  objects([
    object("Namespace", "shop"),
    ...range(n - 1).map((at) => {
      const kind = ["ConfigMap", "Secret", "Service", "ServiceAccount", "PersistentVolumeClaim"][at % 5];
      const finalizers = at % 10 === 7 ? { finalizers: [`example.com/hold-${at % 3}`] } : {};
      return object(kind, `object-${at}`, { namespace: "shop", ...finalizers });
    }),
  ]);

/** A chain of owners for each of `n` roots: what a graph of a cluster that is used looks like. */
export const owned = (n) =>
  objects([
    object("Namespace", "shop", { uid: "00000000-0000-0000-0000-00000000ffff", resourceVersion: "1" }),
    ...range(n).map((at) => {
      const uid = (number) => `00000000-0000-0000-0000-${String(number).padStart(12, "0")}`;
      const owner = Math.floor((at - 1) / 3);
      const ownerReferences = at
        ? [{ apiVersion: "v1", kind: "ConfigMap", name: `object-${owner}`, uid: uid(owner), blockOwnerDeletion: at % 2 === 0 }]
        : [];
      return object("ConfigMap", `object-${at}`, { namespace: "shop", uid: uid(at), resourceVersion: "1", ownerReferences });
    }),
  ]);

/** `n` objects with a finding each. */
export const faulty = (n) =>
  objects(range(n).map((at) => object("ConfigMap", `faulty-${at}`, { namespace: `ns-${at % 7}`, finalizers: ["not a name"] })));

export const HOSTILE = [
  "</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "\" onclick=\"alert(3)", "javascript:alert(4)",
  "user\u202enimda", "bell\u0007and\u001b[31mred", "</title></style><!--", "${7*7}`", "&lt;b&gt;",
];

/** Objects whose names, kinds and finalizers are markup, commands or control characters. */
export const hostile = () =>
  objects([
    object("Namespace", "shop"),
    ...HOSTILE.map((name, at) => object("ConfigMap", name, { namespace: "shop", finalizers: [`example.com/${name}`], labels: { at: String(at) } })),
    ...HOSTILE.map((name) => ({ apiVersion: "example.com/v1", kind: name, metadata: { name: "one", namespace: "shop" } })),
  ]);

/** A change that removes a namespace whose claim nobody mentions, and a finalizer's controller. */
export const before = () =>
  objects([
    object("Namespace", "shop"),
    object("ConfigMap", "web", { namespace: "shop" }),
    object("PersistentVolumeClaim", "data", { namespace: "shop" }),
    object("ConfigMap", "held", { namespace: "shop", finalizers: ["example.com/hold"] }),
    object("ConfigMap", "elsewhere", { namespace: "other" }),
  ]);
export const after = () =>
  objects([
    object("ConfigMap", "web", { namespace: "shop" }),
    object("PersistentVolumeClaim", "data", { namespace: "shop" }),
    object("ConfigMap", "held", { namespace: "shop", finalizers: ["example.com/hold"] }),
    object("ConfigMap", "elsewhere", { namespace: "other" }),
  ]);

/** A Kustomization of Flux. */
export const kustomization = (name = "apps", path = "./apps") =>
  objects([{
    apiVersion: "kustomize.toolkit.fluxcd.io/v1", kind: "Kustomization", metadata: { name, namespace: "flux-system" },
    spec: { path, prune: true, interval: "1h", sourceRef: { kind: "GitRepository", name: "flux-system" } },
  }]);
