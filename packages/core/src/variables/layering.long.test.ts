import { test } from 'vitest'
import { checkLayering } from '../testing/check-layering.ts'
import { testRuntime } from '../testing/index.ts'

test('what holds on the nodes of 10,000 random trees is what the reference says', { timeout: 900_000 }, async () => {
  const t = await testRuntime()
  await checkLayering(t, 100)
  await t.close()
})
