const blockSize = 512

/**
 * Maps lines to screen rows: one per line, or several when it is wrapped. Row counts are summed per block of lines, so that
 * appending costs only the new lines and a lookup walks over blocks.
 */
export class LogLayout {
  private readonly blocks: number[] = []
  private counted = 0
  private rows = 0
  private readonly lineAtIndex: (index: number) => number
  private readonly widthOf: (line: number) => number
  private readonly columns: number | null

  /** `lineAtIndex` maps an index (from 0) to a line number; `columns` is null without wrapping. */
  constructor(lineAtIndex: (index: number) => number, widthOf: (line: number) => number, columns: number | null) {
    this.lineAtIndex = lineAtIndex
    this.widthOf = widthOf
    this.columns = columns
  }

  rowsOf(index: number): number {
    if (this.columns === null) return 1
    return Math.max(1, Math.ceil(this.widthOf(this.lineAtIndex(index)) / this.columns))
  }

  /** Extends the layout to `count` lines. */
  extend(count: number): void {
    if (this.columns !== null) {
      for (let index = this.counted; index < count; index++) {
        const block = Math.floor(index / blockSize)
        const rows = this.rowsOf(index)
        this.blocks[block] = (this.blocks[block] ?? 0) + rows
        this.rows += rows
      }
    } else this.rows = count
    this.counted = count
  }

  get totalRows(): number {
    return this.rows
  }
  get count(): number {
    return this.counted
  }

  /** The first row of the line at an index. */
  rowAt(index: number): number {
    if (this.columns === null) return index
    const block = Math.floor(index / blockSize)
    let row = 0
    for (let each = 0; each < block; each++) row += this.blocks[each] ?? 0
    for (let each = block * blockSize; each < index; each++) row += this.rowsOf(each)
    return row
  }

  /** The index of the line at a row. */
  indexAt(row: number): number {
    if (this.columns === null) return Math.max(0, Math.min(this.counted - 1, Math.floor(row)))
    let block = 0
    let seen = 0
    while (block < this.blocks.length - 1 && seen + (this.blocks[block] ?? 0) <= row) seen += this.blocks[block++] ?? 0
    let index = block * blockSize
    while (index < this.counted - 1) {
      const rows = this.rowsOf(index)
      if (seen + rows > row) break
      seen += rows
      index++
    }
    return index
  }
}
