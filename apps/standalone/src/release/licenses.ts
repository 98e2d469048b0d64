import { type Component, licenseText } from './sbom.ts'

/** Licenses of parts that may be distributed with Muster. Names are those that packages state. */
const ALLOWED = new Set([
  ...[
    '0BSD',
    'Apache-2.0',
    'BlueOak-1.0.0',
    'BSD-2-Clause',
    'BSD-3-Clause',
    'CC0-1.0',
    'ISC',
    'MIT',
    'MIT-0',
    'MPL-2.0',
    'Unlicense',
    'Zlib',
  ],
  ...['BSD License', 'ISC License (ISCL)', 'MIT License', 'SIL OPEN FONT LICENSE'],
])

/** Parts with another license, or none stated, and why they are acceptable. */
const EXCEPTIONS: Record<string, { license: string; reason: string }> = {
  'ansible-core': { license: 'GPL-3.0-or-later', reason: 'a separate program that the worker starts' },
  buildcheck: { license: 'MIT', reason: 'stated in its LICENSE file' },
  'caniuse-lite': { license: 'CC-BY-4.0', reason: 'data that only the build uses' },
  'cpu-features': { license: 'MIT', reason: 'stated in its LICENSE file' },
  importlib_resources: { license: 'Apache-2.0', reason: 'only for Python 3.9, so not installed here' },
  'importlib-resources': { license: 'Apache-2.0', reason: 'only for Python 3.9, so not installed here' },
  'sharp-libvips-linux-x64': { license: 'LGPL-3.0-or-later', reason: 'a shared library that is loaded dynamically' },
  ssh2: { license: 'MIT', reason: 'stated in its LICENSE file' },
  'typing-extensions': { license: 'PSF-2.0', reason: 'only for Python before 3.11, so not installed here' },
  zipp: { license: 'MIT', reason: 'only for Python 3.9, so not installed here' },
}

/** One line per part, `name version license`, sorted by name. */
export const licenseList = (components: Component[]): string =>
  `${components.map((one) => `${one.name} ${one.version}  ${EXCEPTIONS[one.name]?.license ?? licenseText(one)}`).join('\n')}\n`

/** Parts with a license that is not allowed, or with none. */
export function licenseProblems(components: Component[]): string[] {
  return components.flatMap((one) => {
    if (EXCEPTIONS[one.name]) return []
    const text = licenseText(one)
    if (text === null) return [`${one.name} ${one.version} states no license`]
    return isAllowed(text) ? [] : [`${one.name} ${one.version}: ${text} is not an allowed license`]
  })
}

/** Evaluates an SPDX expression without nested parentheses: every AND part needs one allowed OR choice. */
function isAllowed(expression: string): boolean {
  const parts = expression.replaceAll(/^\(|\)$/g, '').split(' AND ')
  return (
    ALLOWED.has(expression) ||
    parts.every((part) => part.split(' OR ').some((choice) => ALLOWED.has(choice.replaceAll(/[()]/g, '').trim())))
  )
}
