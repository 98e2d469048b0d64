import { CliError, EXIT } from './errors.ts'
import { count } from './output.ts'
import { prompt } from './prompt.ts'
import { nameList, type SelectedNode, selectNodes } from './selector.ts'

export const YES_HELP = 'do not ask for confirmation'

/**
 * The nodes that a selector matches, for an action that cannot be undone. Names them and asks on the terminal, unless the selector is
 * the name of one node.
 * @param action verb and object, such as `Delete`
 * @param yes the user has confirmed with --yes
 * @throws CliError when no node matches, or the user does not confirm
 */
export async function confirmNodes(selector: string, action: string, yes = false): Promise<SelectedNode[]> {
  const nodes = await selectNodes(selector)
  const names = nodes.map((node) => node.name)
  if (yes || (nodes.length === 1 && names[0] === selector)) return nodes
  process.stderr.write(`${action} ${count(nodes.length, 'node')}: ${nameList(names)}. This cannot be undone.\n`)
  if ((await prompt('Confirmation (yes or no)', '--yes')) !== 'yes') throw new CliError('Nothing was changed.', EXIT.failed)
  return nodes
}

/**
 * Asks on the terminal before an action.
 * @param what one sentence, such as `Remove ada.`
 * @param yes the user has confirmed with --yes
 * @throws CliError when the user does not confirm
 */
export async function confirmAction(what: string, yes = false): Promise<void> {
  if (yes) return
  process.stderr.write(`${what}\n`)
  if ((await prompt('Confirmation (yes or no)', '--yes')) !== 'yes') throw new CliError('Nothing was changed.', EXIT.failed)
}
