import { type Document, isMap, type Node, parseDocument, YAMLMap } from 'yaml'
import { Command } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'
import { readScope, readText, type Scope, type ScopeOptions, saveText, withReason, withScope } from './scope.ts'

export type Edit = { file?: string; remove?: string[] }

/** Adds arguments and options for changing some variables or the whole text. */
export const withEdit = (command: Command): Command =>
  command
    .argument('[name=value...]', 'variables to set; keeps the rest of the text and its comments')
    .option('-f, --file <file>', 'replace all variables with a YAML or JSON file; - is standard input')
    .option('--remove <name...>', 'variables to delete')

export const varsSet = () =>
  withReason(
    withScope(withEdit(new Command('set').description('set the variables of all nodes, of a group or of a node'))),
  ).action(
    async (assignments: string[], { file, remove, reason, ...scopeOptions }: ScopeOptions & Edit & { reason?: string }) => {
      const scope = await readScope(scopeOptions)
      await saveText(scope, await textAfter(scope, assignments, { file, remove }), reason)
    },
  )

/** The text of a scope after an edit. */
export async function textAfter(scope: Scope, assignments: string[], { file, remove = [] }: Edit): Promise<string> {
  if ((file === undefined) === (assignments.length + remove.length === 0))
    throw new CliError('Specify name=value, --remove or --file.', EXIT.usage)
  return file === undefined ? editText(scope.text, assignments, remove) : readText(file)
}

/** Sets and deletes variables in a text. Values are YAML: `5`, `true`, `[a, b]`. */
export function editText(text: string, assignments: string[], remove: string[]): string {
  const document: Document = parseDocument(text, { version: '1.1' })
  document.contents ??= new YAMLMap()
  if (!isMap(document.contents)) throw new CliError('The variables are not a mapping; replace them with --file.', EXIT.rejected)
  for (const assignment of assignments) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(assignment) ?? []
    if (name === undefined) throw new CliError(`Invalid assignment: ${assignment}. Use name=value.`, EXIT.usage)
    // Kept as typed: the server interprets values such as 11:22 and y.
    const { contents, errors } = parseDocument(value!, { version: '1.1' })
    if (errors[0])
      throw new CliError(`${name}: the value is not valid YAML; quote special characters: ${errors[0].message}`, EXIT.usage)
    const node = contents ?? document.createNode(null)
    node.comment ??= (document.get(name, true) as Node | undefined)?.comment
    document.set(name, node)
  }
  for (const name of remove) document.delete(name)
  // JSON text stays JSON.
  if (text.trimStart().startsWith('{')) return `${JSON.stringify(document, null, 2)}\n`
  return document.toString({ lineWidth: 0, flowCollectionPadding: false })
}
