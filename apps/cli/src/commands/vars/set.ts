import { Command } from 'commander'
import { type Document, isMap, type Node, parseDocument, YAMLMap } from 'yaml'
import { CliError, EXIT } from '../../errors.ts'
import { type Place, readScope, readText, type Scope, saveText, withPlace, withReason } from './scope.ts'

export type Edit = { file?: string; remove?: string[] }

/** What may be changed: some names, or the whole text. */
export const withEdit = (command: Command): Command =>
  command
    .argument('[name=value...]', 'single ones; the rest of the text and its comments stay')
    .option('-f, --file <file>', 'all of them: YAML or JSON; - is standard input')
    .option('--remove <name...>', 'take these away')

export const varsSet = () =>
  withReason(withPlace(withEdit(new Command('set').description('set variables of all nodes, a group or a node')))).action(
    async (assignments: string[], { file, remove, reason, ...place }: Place & Edit & { reason?: string }) => {
      const scope = await readScope(place)
      await saveText(scope, await textAfter(scope, assignments, { file, remove }), reason)
    },
  )

/** The text of a place as it would be after an edit. */
export async function textAfter(scope: Scope, assignments: string[], { file, remove = [] }: Edit): Promise<string> {
  if ((file === undefined) === (assignments.length + remove.length === 0))
    throw new CliError('Give name=value, --remove or --file.', EXIT.usage)
  return file === undefined ? edited(scope.text, assignments, remove) : readText(file)
}

/** The text with some names set to other values or taken away. Values are YAML: `5`, `true`, `[a, b]`. */
export function edited(text: string, assignments: string[], remove: string[]): string {
  const document: Document = parseDocument(text, { version: '1.1' })
  document.contents ??= new YAMLMap()
  if (!isMap(document.contents))
    throw new CliError('The variables are not names with values; set all of them with --file.', EXIT.refused)
  for (const assignment of assignments) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(assignment) ?? []
    if (name === undefined) throw new CliError(`${assignment} is not name=value.`, EXIT.usage)
    // As it was typed: what 11:22 or y mean is the server's to say.
    const { contents, errors } = parseDocument(value!, { version: '1.1' })
    if (errors[0])
      throw new CliError(`${name}: the value is no YAML; text with signs wants quotes: ${errors[0].message}`, EXIT.usage)
    const node = contents ?? document.createNode(null)
    node.comment ??= (document.get(name, true) as Node | undefined)?.comment
    document.set(name, node)
  }
  for (const name of remove) document.delete(name)
  // What begins as JSON is read as JSON, and stays it.
  if (text.trimStart().startsWith('{')) return `${JSON.stringify(document, null, 2)}\n`
  return document.toString({ lineWidth: 0, flowCollectionPadding: false })
}
