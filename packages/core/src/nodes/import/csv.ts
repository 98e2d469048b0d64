import { CsvError, type Info, parse } from 'csv-parse/sync'
import { type Draft, type DraftFields, draft, MAX_ROWS, nameFromHost, tooMany, unreadable } from './draft.ts'

/** Column headings, lower case and without spaces, `_` and `-`, and the field each means. */
const COLUMNS: Record<string, keyof DraftFields | 'groups'> = {
  name: 'name',
  node: 'name',
  host: 'host',
  hostname: 'host',
  address: 'host',
  ip: 'host',
  ipaddress: 'host',
  port: 'port',
  sshport: 'port',
  user: 'sshUser',
  sshuser: 'sshUser',
  username: 'sshUser',
  connectiontype: 'connectionType',
  displayname: 'displayName',
  type: 'nodeType',
  nodetype: 'nodeType',
  region: 'region',
  datacenter: 'datacenter',
  rack: 'rack',
  rackposition: 'rackPosition',
  position: 'rackPosition',
  xname: 'xname',
  nid: 'nid',
  managementip: 'managementIp',
  mac: 'mac',
  bootmac: 'mac',
  interface: 'interfaceName',
  bmc: 'bmcAddress',
  bmcaddress: 'bmcAddress',
  bmcmac: 'bmcMac',
  bmcprotocol: 'bmcProtocol',
  bmccredential: 'bmcCredential',
  bmcfingerprint: 'bmcFingerprint',
  bmcport: 'bmcPort',
  bmcca: 'bmcCa',
  bmccacertificate: 'bmcCa',
  bmcsystempath: 'bmcSystemPath',
  notes: 'notes',
  tags: 'tags',
  labels: 'labels',
  group: 'groups',
  groups: 'groups',
  credential: 'credential',
  becomecredential: 'becomeCredential',
  become: 'becomeCredential',
  bastion: 'bastion',
}

const columnOf = (heading: string) => {
  const key = heading.toLowerCase().replace(/[\s_-]/g, '')
  return Object.hasOwn(COLUMNS, key) ? COLUMNS[key] : undefined
}

const words = (cell: string) =>
  cell
    .split(/[\s,;|]+/)
    .map((word) => word.trim())
    .filter((word) => word !== '')

/**
 * Parses a table with a heading line (`name,host,port,user,tags,labels,…`, any order). Cells are separated by comma, semicolon or tab,
 * and quoted as in RFC 4180. Spaces, commas, semicolons or `|` separate tags, groups and labels (`key=value`) inside a cell. Unknown
 * columns are ignored with a note.
 */
export function parseCsv(text: string): Draft[] {
  // Normalizes line ends, because the parser counts CRLF inside quotes twice.
  const [head, ...records] = readRecords(text.replace(/\r\n?/g, '\n'))
  if (!head) throw unreadable('there is no heading line, such as name,host,port,user')
  const columns = head.cells.map(columnOf)
  if (!columns.includes('host') && !columns.includes('name'))
    throw unreadable('the header must name the columns, including `host` or `name`: name,host,port,user,tags', head.line)
  const strange = head.cells.filter((cell, i) => cell !== '' && columns[i] === undefined)
  if (records.length > MAX_ROWS) throw tooMany()
  return records.map(({ cells, line, source }, i) => {
    const row = parseRecord(draft(line, source), columns, cells)
    if (i === 0) row.notes.push(...strange.map((cell) => ({ path: cell.slice(0, 60), message: 'column ignored' })))
    return row
  })
}

type CsvRecord = { cells: string[]; line: number; source: string }

function readRecords(text: string): CsvRecord[] {
  const firstLine =
    text
      .replace(/^\uFEFF/, '')
      .split('\n')
      .find((line) => line.trim() !== '') ?? ''
  const delimiter = [';', '\t'].find((d) => firstLine.split(d).length > firstLine.split(',').length) ?? ','
  const options = { bom: true, delimiter, relax_column_count: true, skip_empty_lines: true, trim: true, info: true, raw: true }
  try {
    // With the options `info` and `raw` the parser returns objects, which its types omit.
    const records = parse(text, { ...options, to: MAX_ROWS + 2 }) as unknown as { record: string[]; info: Info; raw: string }[]
    return records
      .filter(({ record }) => record.some((cell) => cell !== ''))
      .map(({ record, info, raw }) => {
        // `lines` is the last line of the record; quoted cells may contain line ends.
        const source = raw.replace(/^(\s*\n)+|\n+$/g, '')
        return { cells: record, line: info.lines - (source.match(/\n/g) ?? []).length, source }
      })
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    throw unreadable(error.message.replace(/^Invalid \w+( \w+)*: /, ''), Number(error.lines) || undefined)
  }
}

function parseRecord(row: Draft, columns: (keyof DraftFields | 'groups' | undefined)[], cells: string[]): Draft {
  if (cells.length > columns.length && cells.slice(columns.length).some((cell) => cell !== ''))
    row.issues.push({ path: '', message: `has ${cells.length} cells, but the header has ${columns.length}` })
  const fields: DraftFields = {}
  columns.forEach((column, i) => {
    const cell = cells[i]
    if (!column || !cell) return
    if (column === 'groups') row.groups.push(...words(cell))
    else if (column === 'tags') fields.tags = words(cell)
    else if (column === 'labels') {
      const pairs = cell.split(/[,;|]/).map((pair) => pair.trim())
      fields.labels = Object.fromEntries(
        pairs
          .filter((pair) => pair !== '')
          .map((pair) => [pair.split('=')[0]!.trim(), pair.split('=').slice(1).join('=').trim()]),
      )
    } else if (column === 'nodeType') fields.nodeType = cell.toUpperCase()
    else if (column === 'bmcProtocol') fields.bmcProtocol = cell.toUpperCase()
    else if (column === 'connectionType') fields.connectionType = cell.toLowerCase()
    else fields[column] = cell
  })
  if (fields.name && !fields.host) fields.host = fields.name
  if (fields.host && !fields.name) fields.name = nameFromHost(fields.host)
  return { ...row, fields }
}
