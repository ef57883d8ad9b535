/** A fenced block of a Markdown page. */
export interface CodeBlock {
  readonly language: string
  /** What stands behind the language. */
  readonly info: string
  /** The line of its first line of code, from 1. */
  readonly line: number
  readonly text: string
}

/** A program of a page: its blocks one after the other, each at the line it has in the page. */
export interface PageProgram {
  readonly page: string
  readonly line: number
  readonly text: string
}

/** Every fenced block of a page. */
export function codeBlocks(markdown: string): CodeBlock[] {
  const blocks: CodeBlock[] = []
  let open: { fence: string; language: string; info: string; line: number; lines: string[] } | null = null
  for (const [index, line] of markdown.split('\n').entries()) {
    const fence = /^ {0,3}(`{3,})\s*(\S*)\s*(.*)$/.exec(line)
    if (open === null) {
      if (fence !== null)
        open = { fence: fence[1]!, language: fence[2]!, info: fence[3]!, line: index + 2, lines: [] }
    } else if (fence !== null && fence[2] === '' && fence[1]!.length >= open.fence.length) {
      const { language, info, line: first, lines } = open
      blocks.push({ language, info, line: first, text: lines.join('\n') })
      open = null
    } else open.lines.push(line)
  }
  return blocks
}

/**
 * The TypeScript programs of a page. A block that starts with an import starts a program, and the blocks after it go
 * on from there, as a reader would read them.
 */
export function programsOf(page: string, markdown: string): PageProgram[] {
  const programs: PageProgram[] = []
  for (const block of codeBlocks(markdown)) {
    if (block.language !== 'ts' || block.info.startsWith('ignore')) continue
    const before = programs.at(-1)
    const starts = /^(?:\/\/[^\n]*\n|\/\*\*?[^*]*\*\/\s*)*import /.test(block.text)
    if (starts || before === undefined) {
      programs.push({ page, line: block.line, text: '\n'.repeat(block.line - 1) + block.text })
      continue
    }
    const gap = block.line - before.text.split('\n').length
    programs[programs.length - 1] = { ...before, text: before.text + '\n'.repeat(gap) + block.text }
  }
  return programs
}

/** The TypeScript blocks of a page that are not run, with what is said for it. */
export function ignoredBlocks(markdown: string): CodeBlock[] {
  return codeBlocks(markdown).filter(({ language, info }) => language === 'ts' && info.startsWith('ignore'))
}
