/** Splits an identifier into words: `SRARC_DoSomethingNew` → "Do Something New", `numNodes` → "num Nodes". */
export function readable(name: string): string {
  const nameWords = name
    .replace(/^(ARC|SRARC|CRARC|ANSRARC|CNSRARC)_/, "")
    .replace(/_/g, " ")
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .trim();
  return nameWords || name;
}
