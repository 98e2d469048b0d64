// Next's standalone output lacks its static files. Copies them next to server.js, which serves them.
import fs from 'node:fs'
import path from 'node:path'

const root = path.join(import.meta.dirname, '..')
const target = path.join(root, '.next/standalone/apps/console')
fs.cpSync(path.join(root, '.next/static'), path.join(target, '.next/static'), { recursive: true })
if (fs.existsSync(path.join(root, 'public')))
  fs.cpSync(path.join(root, 'public'), path.join(target, 'public'), { recursive: true })
