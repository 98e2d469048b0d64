export * from './answers.ts'
export * from './heartbeat.ts'
export * from './light.ts'
export * from './register.ts'
