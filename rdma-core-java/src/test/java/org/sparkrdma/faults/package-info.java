// SPDX-License-Identifier: Apache-2.0
/** What tests of faults share. */
package org.sparkrdma.faults;
