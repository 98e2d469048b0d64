import { errorFrom } from '../../errors.ts'
import { nodeIds } from '../../ids.ts'

type Failure = { code: string; message: string; issues?: { path: string; message: string }[] }

/** Change nodes one by one and say of each what became of it. The others are still tried: one that is refused must not keep the rest. */
export async function eachNode<T extends { __typename: string }>(
  hostlist: string,
  change: (node: { id: string; name: string }) => Promise<T>,
  became: (result: Exclude<T, { code: unknown }>) => string,
): Promise<void> {
  for (const node of await nodeIds(hostlist)) {
    const result = await change(node)
    if ('code' in result) {
      const error = errorFrom(result as unknown as Failure)
      process.stderr.write(`${node.name}: ${error.message}\n`)
      process.exitCode = error.exitCode
    } else process.stdout.write(`${node.name}: ${became(result as Exclude<T, { code: unknown }>)}\n`)
  }
}
