import type { Command, Output } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'
import { printRows } from '../../output.ts'
import { readBootParameters, readInventory } from './intent.ts'
import { compare, type Difference, type Objects, textOf } from './objects.ts'
import { readBss, readSmd } from './remote.ts'

export type Services = { smd?: string; bss?: string }

export const addresses = (command: Command): Command =>
  command
    .option('--smd <url>', 'address of SMD, without /hsm/v2; the JWT is in OPENCHAMI_TOKEN')
    .option('--bss <url>', 'address of BSS, without /boot/v1')

/** Reads both sides. @throws CliError no service is named, or one does not answer */
export async function differences({ smd, bss }: Services): Promise<{ all: Difference[]; ours: Objects }> {
  if (!smd && !bss) throw new CliError('Name a service with --smd or --bss.', EXIT.usage)
  const ours = new Map([...(smd ? await readInventory() : []), ...(bss ? await readBootParameters() : [])])
  const theirs = new Map([...(smd ? await readSmd(smd) : []), ...(bss ? await readBss(bss) : [])])
  return { all: compare(ours, theirs), ours }
}

export function printDifferences(all: Difference[], output: Output): void {
  printRows(
    all,
    [
      { title: 'OBJECT', value: ({ object }) => object },
      { title: 'STATE', value: ({ state }) => state },
      {
        title: 'FIELDS',
        value: ({ fields }) =>
          fields.map(({ field, theirs, ours }) => `${field}: ${textOf(theirs)} -> ${textOf(ours)}`).join('; '),
      },
    ],
    output,
    'No differences.',
  )
}
