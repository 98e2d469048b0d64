import type { Command } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'

/** Kinds of manifests, and the commands for their objects. */
const COMMANDS = {
  AlertRoute: { load: async () => (await import('../alerts/routes/index.ts')).alertRoute(), get: null, delete: ['delete'] },
  BootProfile: { load: async () => (await import('../boot-profiles/index.ts')).bootProfile(), get: ['get'], delete: ['delete'] },
  ComputeNode: { load: async () => (await import('../nodes/index.ts')).node(), get: ['get'], delete: ['decommission'] },
  Credential: { load: async () => (await import('../credentials/index.ts')).credential(), get: ['get'], delete: ['delete'] },
  JobTemplate: { load: async () => (await import('../templates/index.ts')).template(), get: ['get'], delete: ['archive'] },
  NodeGroup: { load: async () => (await import('../groups/index.ts')).group(), get: ['get'], delete: ['delete'] },
  SlurmCluster: { load: async () => (await import('../clusters/index.ts')).cluster(), get: ['get'], delete: ['remove'] },
  Variables: { load: async () => (await import('../variables/index.ts')).vars(), get: ['get'], delete: null },
} satisfies Record<string, { load: () => Promise<Command>; get: string[] | null; delete: string[] | null }>
export type Kind = keyof typeof COMMANDS
export const KINDS = Object.keys(COMMANDS) as Kind[]

/** The kind with this name, in any case, also in the plural. */
export function kindNamed(text: string): Kind {
  const wanted = text.toLowerCase()
  const kind = KINDS.find((each) => [each.toLowerCase(), `${each.toLowerCase()}s`].includes(wanted))
  if (!kind) throw new CliError(`There is no kind ${text}. Kinds are ${KINDS.join(', ')}.`, EXIT.usage)
  return kind
}

/** Runs the command for an object, `ComputeNode/gpu01`, with further options. */
export async function runCommandOf(verb: 'get' | 'delete', object: string, options: string[]): Promise<void> {
  const [text = '', ...rest] = object.split('/')
  const kind = kindNamed(text)
  const name = rest.join('/')
  if (name === '') throw new CliError(`Name the object, such as ${kind}/NAME. \`muster export ${kind}\` prints all.`, EXIT.usage)
  const { load, [verb]: words } = COMMANDS[kind]
  if (!words)
    throw new CliError(
      `There is no \`muster ${verb}\` for ${kind}. Use \`muster export ${kind}/${name}\`, and apply a changed manifest.`,
      EXIT.usage,
    )
  const scope = kind === 'Variables' ? scopeOf(name) : [name]
  const command = await load()
  await command.parseAsync([...words, ...scope, ...options], { from: 'user' })
}

/** Options of \`muster vars\` for \`all\`, \`group:NAME\` or \`node:NAME\`. */
function scopeOf(name: string): string[] {
  const [, what, of = ''] = /^(all|group|node):?(.*)$/.exec(name) ?? []
  return what === 'group' ? ['--group', of] : what === 'node' ? ['--node', of] : []
}
