import { createHash } from 'node:crypto'

export const TEST_MASTER_PASSWORD = 'a master password for tests'

/** One hash instead of 600,000: no test has a second to spare for each of its databases. */
export const quickDerive = async (password: string, salt: Buffer): Promise<Buffer> =>
  createHash('sha256').update(salt).update(password).digest()
