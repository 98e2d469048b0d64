import { test } from 'vitest'
import { referenceLayering } from '../testing/reference-layering.ts'
import { testRuntime } from '../testing/runtime.ts'

test('what holds on the nodes of 100 random trees is what the reference says', async () => {
  const t = await testRuntime()
  await referenceLayering(t, 1)
  await t.close()
})
