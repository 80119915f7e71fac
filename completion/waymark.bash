# bash completion for waymark(1)

_waymark()
{
	local cur prev words cword
	_init_completion -n = || return

	local commands='cc c++ run decode report paths residual merge core tune ir graph help'
	local search='--exe --debug-dir --output --help'
	local pathview='--source-dir --color= --full --function --top'

	if [[ $cword -eq 1 ]]; then
		COMPREPLY=($(compgen -W "$commands --help --version" -- "$cur"))
		return
	fi
	case ${words[1]} in
	help)
		[[ $cword -eq 2 ]] && COMPREPLY=($(compgen -W "$commands" -- "$cur"))
		return
		;;
	cc | c++)
		case $cur in
		--wm=*) COMPREPLY=($(compgen -W 'contexts paths trace trace= contexts,paths contexts,trace none' -- "${cur#*=}")) ;;
		--wm-stage=*) COMPREPLY=($(compgen -W 'source final' -- "${cur#*=}")) ;;
		--wm-path-hash=*) COMPREPLY=($(compgen -W 'inline call' -- "${cur#*=}")) ;;
		--wm-path-array=* | --wm-trace-paths=*) ;;
		--wm-plan=*)
			cur=${cur#*=}
			_filedir
			;;
		--*)
			COMPREPLY=($(compgen -W '--wm= --wm-stage= --wm-plan= --wm-path-array= --wm-path-hash= --wm-trace-paths= --help' -- "$cur"))
			[[ ${COMPREPLY-} == *= ]] && compopt -o nospace
			;;
		*) _filedir ;;
		esac
		return
		;;
	run)
		local i=2
		while [[ $i -lt $cword ]]; do
			case ${words[i]} in
			-o | --output | --limit) i=$((i + 1)) ;;
			-*) ;;
			*)
				_command_offset "$i"
				return
				;;
			esac
			i=$((i + 1))
		done
		;;
	esac

	case $prev in
	--tested | --field)
		_filedir wmk
		return
		;;
	--debug-dir | --source-dir)
		_filedir -d
		return
		;;
	--exe | --from | --wmk | --output | -o)
		_filedir
		return
		;;
	--function | --max-depth | --limit | --hot | --set | --pid | -p)
		return
		;;
	--top | --frames | --paths)
		COMPREPLY=($(compgen -W 'all 10 20 50 100' -- "$cur"))
		return
		;;
	esac
	case $cur in
	--format=*)
		local formats='text json'
		[[ ${words[1]} == report ]] && formats='text events json folded speedscope svg'
		[[ ${words[1]} == paths || ${words[1]} == core ]] && formats='text json lcov html'
		COMPREPLY=($(compgen -W "$formats" -- "${cur#*=}"))
		return
		;;
	--by=*)
		COMPREPLY=($(compgen -W 'path function' -- "${cur#*=}"))
		return
		;;
	--color=*)
		COMPREPLY=($(compgen -W 'auto always never' -- "${cur#*=}"))
		return
		;;
	--metric=*)
		COMPREPLY=($(compgen -W 'bytes allocations live live-allocations peak leaked inherited inherited-live' -- "${cur#*=}"))
		return
		;;
	--sort=*)
		COMPREPLY=($(compgen -W 'name bytes allocations live live-allocations peak leaked inherited inherited-live' -- "${cur#*=}"))
		return
		;;
	-*)
		case ${words[1]} in
		run) COMPREPLY=($(compgen -W '--heap --output --limit --quiet --help' -- "$cur")) ;;
		decode) COMPREPLY=($(compgen -W "--folded --once --max-depth --wmk $search" -- "$cur")) ;;
		report) COMPREPLY=($(compgen -W "--format= --metric= --sort= --top --function --max-depth $search" -- "$cur")) ;;
		paths) COMPREPLY=($(compgen -W "--format= --by= $pathview $search" -- "$cur")) ;;
		residual) COMPREPLY=($(compgen -W "--tested --field --hot --format= $pathview $search" -- "$cur")) ;;
		merge) COMPREPLY=($(compgen -W '--output --help' -- "$cur")) ;;
		core) COMPREPLY=($(compgen -W "--format= --pid --frames --paths --functions --no-values --source-dir --color= --full $search" -- "$cur")) ;;
		tune) COMPREPLY=($(compgen -W "--set --from --list $search" -- "$cur")) ;;
		ir) COMPREPLY=($(compgen -W "$search" -- "$cur")) ;;
		graph) COMPREPLY=($(compgen -W "--format= $search" -- "$cur")) ;;
		esac
		[[ ${COMPREPLY-} == *= ]] && compopt -o nospace
		return
		;;
	esac
	case ${words[1]} in
	run) COMPREPLY=($(compgen -c -- "$cur")) ;;
	report | paths | residual | merge) _filedir wmk ;;
	*) _filedir ;;
	esac
} &&
	complete -F _waymark waymark
