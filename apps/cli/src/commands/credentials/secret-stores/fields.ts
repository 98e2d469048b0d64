import { request } from '../../../client.ts'
import type { Command } from '../../../command.ts'
import { CliError, EXIT } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { emptyToNull, omitUndefined, oneOf } from '../../../options.ts'
import { fetchAll } from '../../../pages.ts'
import { prompt, readStdin } from '../../../prompt.ts'

export type StoreOptions = {
  namespace?: string
  mount?: string
  auth?: 'TOKEN' | 'APP_ROLE'
  roleId?: string
  secretStdin?: true
}

/** Options for the connection to a secret store. */
export const withStoreFields = (command: Command): Command =>
  command
    .option('--namespace <path>', 'Vault namespace')
    .option('--mount <path>', 'mount path of the KV version 2 engine (default: secret)')
    .option('--auth <method>', 'TOKEN, or APP_ROLE with --role-id', oneOf('TOKEN', 'APP_ROLE'))
    .option('--role-id <id>', 'APP_ROLE: role ID')
    .option('--secret-stdin', 'read the token or secret ID from standard input instead of asking')

/** Input fields of the API for the options. */
export const storeFields = ({ namespace, mount, auth, roleId }: StoreOptions) =>
  omitUndefined({ namespace: emptyToNull(namespace), mount, auth, roleId: emptyToNull(roleId) })

export const storeSecret = (options: StoreOptions): Promise<string> =>
  options.secretStdin
    ? readStdin()
    : prompt(options.auth === 'APP_ROLE' ? 'Secret ID' : 'Token', '--secret-stdin', { hidden: true })

const STORES = graphql(`query SecretStoreIds($first: Int, $after: String) {
  secretStores(first: $first, after: $after) { edges { node { id name } } pageInfo { hasNextPage endCursor } }
}`)

/** ID of the secret store with this name. */
export async function storeId(name: string): Promise<string> {
  const all = await fetchAll(async (page) => (await request(STORES, page)).secretStores)
  const found = all.find((store) => store.name === name)
  if (!found) throw new CliError(`No secret store named ${name}. See \`muster secret-store list\`.`, EXIT.notFound)
  return found.id
}
