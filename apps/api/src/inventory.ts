import { readInventory } from '@muster/core/variables'
import type { TokenPage } from './token-page.ts'

/** `GET /api/inventory?limit=…`: what `ansible-inventory --list` prints. */
export const inventoryPage: TokenPage = {
  name: 'inventory',
  contentType: 'application/json',
  read: async (ctx, params) => `${JSON.stringify(await readInventory(ctx, params.get('limit')))}\n`,
}
