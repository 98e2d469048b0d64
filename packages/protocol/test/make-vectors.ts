import fs from 'node:fs'
import path from 'node:path'
import { makeVectors } from './vectors.ts'

fs.writeFileSync(path.join(import.meta.dirname, '../vectors.json'), `${JSON.stringify(makeVectors(), null, 2)}\n`)
