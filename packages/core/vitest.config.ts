import { defineConfig } from 'vitest/config'

// Each file has a database of its own; on a machine that is busy with others the first queries can take seconds.
export default defineConfig({ test: { testTimeout: 60_000, hookTimeout: 60_000 } })
