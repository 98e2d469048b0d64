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
  auth?: 'TOKEN' | 'APP_ROLE' | 'ACCESS_KEY'
  roleId?: string
  region?: string
  accessKeyId?: string
  secretStdin?: true
}

/** Options for the connection to a secret store. */
export const withStoreFields = (command: Command): Command =>
  command
    .option('--namespace <path>', 'Vault namespace')
    .option('--mount <path>', 'Vault mount path of the KV version 2 engine (default: secret)')
    .option(
      '--auth <method>',
      'TOKEN, APP_ROLE with --role-id, or ACCESS_KEY with --region and --access-key-id',
      oneOf('TOKEN', 'APP_ROLE', 'ACCESS_KEY'),
    )
    .option('--role-id <id>', 'APP_ROLE: role ID')
    .option('--region <name>', 'AWS region, for example eu-central-1')
    .option('--access-key-id <id>', 'ACCESS_KEY: access key ID')
    .option('--secret-stdin', 'read the token, secret ID or secret access key from standard input instead of asking')

/** Input fields of the API for the options. */
export const storeFields = ({ namespace, mount, auth, roleId, region, accessKeyId }: StoreOptions) =>
  omitUndefined({
    namespace: emptyToNull(namespace),
    mount: emptyToNull(mount),
    auth,
    roleId: emptyToNull(roleId),
    region: emptyToNull(region),
    accessKeyId: emptyToNull(accessKeyId),
  })

export const storeSecret = (options: StoreOptions): Promise<string> =>
  options.secretStdin ? readStdin() : prompt(SECRET_NAMES[options.auth ?? 'TOKEN'], '--secret-stdin', { hidden: true })
const SECRET_NAMES = { TOKEN: 'Token', APP_ROLE: 'Secret ID', ACCESS_KEY: 'Secret access key' }

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
