import type { Command } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { given, oneOf, orNull } from '../../options.ts'
import { rowsOf } from '../../pages.ts'
import { ask, readStdin } from '../../prompt.ts'

export type StoreOptions = {
  namespace?: string
  mount?: string
  auth?: 'TOKEN' | 'APP_ROLE'
  roleId?: string
  secretStdin?: true
}

/** The options that say how a store is reached. */
export const withStoreFields = (command: Command): Command =>
  command
    .option('--namespace <path>', 'the namespace in it')
    .option('--mount <path>', 'where its KV engine, version 2, is mounted (secret)')
    .option('--auth <way>', 'TOKEN, or APP_ROLE with --role-id', oneOf('TOKEN', 'APP_ROLE'))
    .option('--role-id <id>', 'APP_ROLE: the role')
    .option('--secret-stdin', 'read the token or secret ID from standard input instead of asking')

/** What the API is told of them. */
export const storeFields = ({ namespace, mount, auth, roleId }: StoreOptions) =>
  given({ namespace: orNull(namespace), mount, auth, roleId: orNull(roleId) })

export const storeSecret = (options: StoreOptions): Promise<string> =>
  options.secretStdin ? readStdin() : ask(options.auth === 'APP_ROLE' ? 'Secret ID' : 'Token', '--secret-stdin', { hidden: true })

const STORES = graphql(`query SecretStoreIds($first: Int, $after: String) {
  secretStores(first: $first, after: $after) { edges { node { id name } } pageInfo { hasNextPage endCursor } }
}`)

/** Global id of the secret store with this name. */
export async function storeId(name: string): Promise<string> {
  const all = await rowsOf(async (page) => (await request(STORES, page)).secretStores)
  const found = all.find((store) => store.name === name)
  if (!found) throw new CliError(`No secret store is called ${name}. See \`muster secret-store list\`.`, EXIT.notFound)
  return found.id
}
