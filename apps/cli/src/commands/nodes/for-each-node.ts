import { errorFrom } from '../../errors.ts'
import { plain } from '../../output.ts'
import type { SelectedNode } from '../../selector.ts'

type Failure = { code: string; message: string; issues?: { path: string; message: string }[] }

/** Changes nodes one by one and prints the result of each. A rejected node does not stop the others. */
export async function forEachNode<T extends { __typename: string }>(
  nodes: SelectedNode[],
  change: (node: SelectedNode) => Promise<T>,
  describe: (result: Exclude<T, { code: unknown }>) => string,
): Promise<void> {
  for (const node of nodes) {
    const result = await change(node)
    if ('code' in result) {
      const error = errorFrom(result as unknown as Failure)
      process.stderr.write(plain(`${node.name}: ${error.message}\n`, false))
      process.exitCode = error.exitCode
    } else process.stdout.write(plain(`${node.name}: ${describe(result as Exclude<T, { code: unknown }>)}\n`, false))
  }
}
