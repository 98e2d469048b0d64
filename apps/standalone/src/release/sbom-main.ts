import fs from 'node:fs'
import path from 'node:path'
import { root } from '../root.ts'
import { licenseList, licenseProblems } from './licenses.ts'
import { createSbom } from './sbom.ts'

// `npm run sbom`: writes dist/muster.cdx.json (CycloneDX) and dist/licenses.txt; exit code 1 when a license is not allowed.
const sbom = await createSbom(path.join(root, '.tool/python'))
const dist = path.join(root, 'dist')
fs.mkdirSync(dist, { recursive: true })
fs.writeFileSync(path.join(dist, 'muster.cdx.json'), `${JSON.stringify(sbom, null, 1)}\n`)
fs.writeFileSync(path.join(dist, 'licenses.txt'), licenseList(sbom.components))
process.stdout.write(`dist/muster.cdx.json and dist/licenses.txt: ${sbom.components.length} parts\n`)
const problems = licenseProblems(sbom.components)
if (problems.length)
  process.stderr.write(
    `Replace these parts, or add them to apps/standalone/src/release/licenses.ts with the reason:\n${problems.join('\n')}\n`,
  )
process.exit(problems.length ? 1 : 0)
