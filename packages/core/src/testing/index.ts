export { createTestDatabase } from './database.ts'
export { eventually } from './eventually.ts'
export { type Cast, type FleetOptions, type Given, makeHostKey, makePrivateKey } from './given.ts'
export { quickDerive, TEST_MASTER_PASSWORD, type TestRuntime, testRuntime } from './runtime.ts'
