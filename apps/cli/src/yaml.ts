import { parseDocument, visit } from 'yaml'

/** Parses YAML or JSON as Ansible does: `yes` is true, `y` is text. @throws Error with the problem and its position */
export function readYaml(text: string): unknown {
  const document = parseDocument(text, { version: '1.1' })
  if (document.errors[0]) throw document.errors[0]
  visit(document, {
    Scalar(_, node) {
      if (node.value instanceof Date) throw new Error(`${node.source} is a date, which JSON does not support; put it in quotes`)
      if (node.format === 'TIME') throw new Error(`${node.source} is a base-60 number in YAML 1.1; put it in quotes`)
      // The library parses these as booleans.
      if (typeof node.value === 'boolean' && /^[yn]$/i.test(node.source ?? '')) node.value = node.source
    },
  })
  return document.toJS()
}
