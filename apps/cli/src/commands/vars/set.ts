import { Command } from 'commander'
import { type Document, isMap, type Node, parse, parseDocument, YAMLMap } from 'yaml'
import { CliError, EXIT } from '../../errors.ts'
import { type Place, readScope, readText, saveText, withPlace, withReason } from './scope.ts'

export const varsSet = () =>
  withReason(
    withPlace(
      new Command('set')
        .description('set variables of all nodes, a group or a node')
        .argument('[name=value...]', 'single ones; the rest of the text and its comments stay')
        .option('-f, --file <file>', 'all of them: YAML or JSON; - is standard input')
        .option('--remove <name...>', 'take these away'),
    ),
  ).action(async (assignments: string[], options: Place & { file?: string; remove?: string[]; reason?: string }) => {
    const { file, remove = [], reason, ...place } = options
    if ((file === undefined) === (assignments.length + remove.length === 0))
      throw new CliError('Give name=value, --remove or --file.', EXIT.usage)
    const scope = await readScope(place)
    await saveText(scope, file === undefined ? edited(scope.text, assignments, remove) : await readText(file), reason)
  })

/** The text with some names set to other values or taken away. Values are YAML: `5`, `true`, `[a, b]`. */
export function edited(text: string, assignments: string[], remove: string[]): string {
  const document: Document = parseDocument(text, { version: '1.1' })
  document.contents ??= new YAMLMap()
  if (!isMap(document.contents))
    throw new CliError('The variables are not names with values; set all of them with --file.', EXIT.refused)
  for (const assignment of assignments) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(assignment) ?? []
    if (name === undefined) throw new CliError(`${assignment} is not name=value.`, EXIT.usage)
    try {
      const node = document.createNode(parse(value!, { version: '1.1' }))
      node.comment = (document.get(name, true) as Node | undefined)?.comment
      document.set(name, node)
    } catch (error) {
      throw new CliError(`${name}: the value is no YAML: ${(error as Error).message}`, EXIT.usage)
    }
  }
  for (const name of remove) document.delete(name)
  // What begins as JSON is read as JSON, and stays it.
  if (text.trimStart().startsWith('{')) return `${JSON.stringify(document, null, 2)}\n`
  return document.toString({ lineWidth: 0, flowCollectionPadding: false })
}
