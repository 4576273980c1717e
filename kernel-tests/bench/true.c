/* SPDX-License-Identifier: BSD-2-Clause */
/* The cheapest program there is: what fork and execute cost by themselves. */
int main(void)
{
	return 0;
}
