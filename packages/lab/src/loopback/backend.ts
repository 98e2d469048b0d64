import type { Backend } from '../backend.ts'
export const loopback: Backend = null as never
