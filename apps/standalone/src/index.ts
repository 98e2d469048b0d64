export { pickPort } from './ports.ts'
export { type RunningPostgres, type StartPostgres, startPostgres } from './postgres.ts'
export { startTestPostgres } from './test-postgres.ts'
