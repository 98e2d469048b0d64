import { createHash } from 'node:crypto'

export const TEST_MASTER_PASSWORD = 'a master password for tests'

/** One hash instead of 600,000, which would take about a second for each test database. */
export const fastDeriveKey = async (password: string, salt: Buffer): Promise<Buffer> =>
  createHash('sha256').update(salt).update(password).digest()
