import { createRequire } from 'node:module'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  // Vite would take graphql's other build than Node does for the libraries, and there must be one.
  resolve: { alias: [{ find: /^graphql$/, replacement: createRequire(import.meta.url).resolve('graphql') }] },
  test: { include: ['src/**/*.test.ts'] },
})
