// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.List;

/** Reads the facts of one matter and explains them. Stateless. */
@FunctionalInterface
interface Check {
  /** At least one finding, or none where the matter does not arise. */
  List<Finding> run(Facts facts);
}
