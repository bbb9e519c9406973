// SPDX-License-Identifier: Apache-2.0
/**
 * {@code doctor --collect}: the files of this machine that show how a card behaves ({@link
 * org.sparkrdma.shuffle.tools.collect.CardFiles}), without addresses ({@link
 * org.sparkrdma.shuffle.tools.collect.AddressMask}), in one archive. One thread.
 */
package org.sparkrdma.shuffle.tools.collect;
