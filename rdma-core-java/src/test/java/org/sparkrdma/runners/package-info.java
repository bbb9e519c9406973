// SPDX-License-Identifier: Apache-2.0
/** Which runner runs which test class: {@link org.sparkrdma.runners.UnrunTests}. */
package org.sparkrdma.runners;
