import { eastAsianWidth } from "get-east-asian-width";

const ASCII = /^[\u0020-\u007e]*$/;
/** Marks over the letter before them, joiners and variation selectors. */
const WITHOUT_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u;

/** The columns of a terminal that a text takes. An emoji made of several is counted as terminals without joining show it. */
export function textWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** The longest beginning that takes at most so many columns. */
export function beginning(text: string, columns: number): string {
  let [end, width] = [0, 0];
  for (const character of text) {
    width += characterWidth(character);
    if (width > columns) break;
    end += character.length;
  }
  return text.slice(0, end);
}

const characterWidth = (character: string): number =>
  WITHOUT_WIDTH.test(character) ? 0 : eastAsianWidth(character.codePointAt(0) ?? 0);
