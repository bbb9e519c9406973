// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

/** The result of an application that may find its own measurement invalid. */
public interface MeasuredResult {
  /** The reason why the measurement is invalid, in one sentence; null when it is valid. */
  String objection();
}
