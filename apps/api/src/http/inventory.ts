import { readInventory } from '@muster/core/variables'
import type { TokenEndpoint } from './token-endpoint.ts'

/** `GET /api/inventory?limit=…`: the output of `ansible-inventory --list`. */
export const inventoryEndpoint: TokenEndpoint = {
  name: 'inventory',
  contentType: 'application/json',
  read: async (ctx, params) => `${JSON.stringify(await readInventory(ctx, params.get('limit')))}\n`,
}
