// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.figures;

/** Reads values of stored figures. Stateless. */
final class Stored {
  private Stored() {}

  /** 0 when it is no number. */
  static long number(Object value) {
    return value instanceof Number number ? number.longValue() : 0;
  }
}
