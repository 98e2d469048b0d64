import { parseDocument, visit } from 'yaml'

/** What YAML or JSON means to Ansible, as JSON: `yes` is true, and `y` is text. @throws Error what is wrong, and where */
export function readYaml(text: string): unknown {
  const document = parseDocument(text, { version: '1.1' })
  if (document.errors[0]) throw document.errors[0]
  visit(document, {
    Scalar(_, node) {
      if (node.value instanceof Date) throw new Error(`${node.source} is a date, which JSON does not have; put it in quotes`)
      if (node.format === 'TIME') throw new Error(`${node.source} means a number of base 60; put it in quotes`)
      // To the library these are booleans.
      if (typeof node.value === 'boolean' && /^[yn]$/i.test(node.source ?? '')) node.value = node.source
    },
  })
  return document.toJS()
}
